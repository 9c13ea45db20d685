import os,json
from pathlib import Path
os.environ["MSWEA_SILENT_STARTUP"]="1"
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.test_models import DeterministicModel, make_output, DeterministicToolcallModel, make_toolcall_output
work=Path("/tmp/fmt/fx/work"); work.mkdir(exist_ok=True); (work/"main.py").write_text("print('[bold]not markup[/]')\n")
def call(i,cmd): return [{"id":f"call_{i}","type":"function","function":{"name":"bash","arguments":json.dumps({"command":cmd})}}]
outs=[("I look around.","ls"),("Now the file.","cat main.py"),("A colour: ","printf '\\033[31mred\\033[0m'"),("Done.","echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo '# A README'")]
m=DeterministicModel(outputs=[make_output(t,[{"command":c}],cost=0.01) for t,c in outs])
kw=dict(system_template="You write READMEs.",instance_template="Document {{task}}.",step_limit=10,cost_limit=3.0)
import inspect
a=DefaultAgent(m,LocalEnvironment(cwd=str(work)),**kw)
print(a.run("main.py"))
a.save(Path("mini-text.json"))
m=DeterministicToolcallModel(outputs=[make_toolcall_output(t,call(i,c),[{"command":c,"tool_call_id":f"call_{i}"}]) for i,(t,c) in enumerate(outs)])
a=DefaultAgent(m,LocalEnvironment(cwd=str(work)),**kw)
print(a.run("main.py"))
a.save(Path("mini-tools.json"))
