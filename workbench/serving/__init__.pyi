from workbench.serving.assessor import assessor_app as assessor_app
from workbench.serving.listening import Place as Place
from workbench.serving.listening import listen as listen
from workbench.serving.white import agent_app as agent_app
