from workbench.agents.names import AGENTS as AGENTS
from workbench.agents.names import Agent as Agent
from workbench.agents.names import AgentInfo as AgentInfo
from workbench.agents.names import agent_info as agent_info
from workbench.agents.names import make_agent as make_agent
from workbench.agents.protocol import Submission as Submission
