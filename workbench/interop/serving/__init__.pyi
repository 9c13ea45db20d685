from workbench.interop.serving.assessor import assessor_app as assessor_app
from workbench.interop.serving.listening import Place as Place
from workbench.interop.serving.listening import listen as listen
from workbench.interop.serving.white import agent_app as agent_app
