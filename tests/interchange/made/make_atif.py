"""Makes atif-full.json with the package atif 1.8.0: every field that the format has, once."""

import json
from pathlib import Path

from atif import (
    Agent,
    ContentPart,
    FinalMetrics,
    ImageSource,
    Metrics,
    Observation,
    ObservationResult,
    Step,
    SubagentTrajectoryRef,
    ToolCall,
    Trajectory,
)

TOOLS = [
    {
        "type": "function",
        "function": {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}},
    }
]
helper = Trajectory(
    schema_version="ATIF-v1.8",
    trajectory_id="helper",
    agent=Agent(name="helper", version="1"),
    steps=[Step(step_id=1, source="user", message="look it up"), Step(step_id=2, source="agent", message="42")],
)
whole = Trajectory(
    schema_version="ATIF-v1.8",
    session_id="session-7",
    trajectory_id="main",
    agent=Agent(
        name="full-agent", version="2.1", model_name="vendor/model-x", tool_definitions=TOOLS, extra={"team": "docs"}
    ),
    notes="made by hand [bold]not markup[/]",
    continued_trajectory_ref="next.json",
    extra={"seed": 7},
    final_metrics=FinalMetrics(
        total_prompt_tokens=900,
        total_completion_tokens=90,
        total_cached_tokens=400,
        total_cost_usd=0.5,
        total_steps=6,
        extra={"retries": 1},
    ),
    subagent_trajectories=[helper],
    steps=[
        Step(step_id=1, source="system", message="You read files.", timestamp="2026-01-02T03:04:05Z"),
        Step(
            step_id=2,
            source="user",
            message=[
                ContentPart(type="text", text="Look at this"),
                ContentPart(type="image", source=ImageSource(media_type="image/png", path="a.png")),
            ],
            extra={"channel": "chat"},
        ),
        Step(
            step_id=3,
            source="agent",
            message="Two files.",
            timestamp="2026-01-02T03:04:06.250000+01:00",
            model_name="vendor/model-y",
            reasoning_effort="high",
            reasoning_content="Both are needed.",
            llm_call_count=2,
            tool_calls=[
                ToolCall(
                    tool_call_id="c1", function_name="read_file", arguments={"path": "src/a.py"}, extra={"cached": True}
                ),
                ToolCall(
                    tool_call_id="c2",
                    function_name="read_file",
                    arguments={"path": "src/b.py", "deep": {"n": [1, 2.0, None]}},
                ),
            ],
            observation=Observation(
                results=[
                    ObservationResult(source_call_id="c1", content="a = 1\n", extra={"score": 0.5}),
                    ObservationResult(source_call_id="c2", content=[ContentPart(type="text", text="b = 2\n")]),
                    ObservationResult(content="the clock struck"),
                ]
            ),
            metrics=Metrics(
                prompt_tokens=500,
                completion_tokens=50,
                cached_tokens=400,
                cost_usd=0.25,
                logprobs=[-0.5, -1.0],
                extra={"ttft": 0.1},
            ),
        ),
        Step(
            step_id=4,
            source="agent",
            message="",
            llm_call_count=1,
            is_copied_context=True,
            tool_calls=[ToolCall(tool_call_id="c3", function_name="delegate", arguments={})],
            observation=Observation(
                results=[
                    ObservationResult(
                        source_call_id="c3", subagent_trajectory_ref=[SubagentTrajectoryRef(trajectory_id="helper")]
                    )
                ]
            ),
            metrics=Metrics(prompt_tokens=400, completion_tokens=40, cost_usd=0.25),
        ),
        Step(
            step_id=5,
            source="agent",
            message="A rule did this.",
            llm_call_count=0,
            tool_calls=[ToolCall(tool_call_id="c4", function_name="bash", arguments={"command": "ls src"})],
            observation=Observation(results=[ObservationResult(source_call_id="c4", content="a.py\nb.py\n")]),
        ),
        Step(
            step_id=6,
            source="agent",
            message='Done: <json>{"name": "no call"}</json> \x1b[31mred\x1b[0m [link=http://x]x[/]',
        ),
    ],
)
Path(__file__).with_name("atif-full.json").write_text(json.dumps(whole.to_json_dict(), indent=1) + "\n")
