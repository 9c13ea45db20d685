import json,os,gzip
problems=[
 {"task_id":"Tiny/0","prompt":"def add(a, b):\n    \"\"\"Return the sum of a and b.\"\"\"\n","entry_point":"add","canonical_solution":"    return a + b\n","base_input":[[1,2],[0,0]],"plus_input":[[-1,1],[10**9,1]],"atol":0,"contract":"","test":"def check(candidate):\n    assert candidate(1, 2) == 3\n"},
 {"task_id":"Tiny/1","prompt":"def longest(words):\n    \"\"\"Return the longest of words, the first of several; None for none.\"\"\"\n","entry_point":"longest","canonical_solution":"    return max(words, key=len, default=None)\n","base_input":[[["a","bb"]],[[]]],"plus_input":[[["cc","bb"]]],"atol":0,"contract":"","test":"def check(candidate):\n    assert candidate(['a', 'bb']) == 'bb'\n"},
]
with open("tiny.jsonl","w") as f:
    for p in problems: f.write(json.dumps(p)+"\n")
os.environ["HUMANEVAL_OVERRIDE_PATH"]=os.path.abspath("tiny.jsonl")
sam=[("Tiny/0","    return a + b\n"),("Tiny/0","    return a - b\n"),("Tiny/1","    return max(words, key=len)\n"),("Tiny/1","    while True: pass\n")]
sol=[{"task_id":t,"solution":next(p["prompt"] for p in problems if p["task_id"]==t)+c} for t,c in sam]
with open("model-a.jsonl","w") as f:
    for s in sol: f.write(json.dumps(s)+"\n")
with open("model-b-completions.jsonl","w") as f:
    for t,c in sam: f.write(json.dumps({"task_id":t,"completion":c})+"\n")
from evalplus.evaluate import evaluate
evaluate("humaneval", samples="model-a.jsonl", parallel=2, i_just_wanna_run=True)
