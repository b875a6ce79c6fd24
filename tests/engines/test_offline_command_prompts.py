"""A client that writes a command's prompt out hides the request; it is found again."""

from __future__ import annotations

from agent_wiki.engines.offline.command_prompts import asked_in_command_prompt
from agent_wiki.engines.offline.goal import goal_of, request_line
from agent_wiki.engines.offline.quoted_request import pasted_line
from agent_wiki.engines.offline.requests import requests_of
from tests.engines.sessions import Session
from tests.engines.summaries import summary

_STEPS = """You **MUST** consider the user input before proceeding (if not empty).

## Outline

1. **Setup**: Run `setup-plan.sh` and parse what it prints.

2. **Write the plan**: Follow the template.
"""


def _prompt(typed: str, rest: str = _STEPS) -> str:
    return f"## User Input\n\n```text\n{typed}\n```\n\n{rest}"


def test_what_was_typed_is_the_request() -> None:
    assert asked_in_command_prompt(_prompt("add a lottery for full events")) == "add a lottery for full events"


def test_what_the_command_does_is_said_without_the_place_of_its_file() -> None:
    does = "You MUST consider it.\n\n## Outline\n\nYou are updating the shop's rules at `.shop/rules.md`. It has gaps."
    assert asked_in_command_prompt(_prompt("caps come first of all", does)) == (
        "Update the shop's rules: caps come first of all"
    )
    assert asked_in_command_prompt(_prompt("", f"{does}\n\n1. Load the rules\n")) == "Update the shop's rules"


def test_what_a_prompt_holds_between_tags_for_it_is_the_request() -> None:
    text = (
        "# Exploration\n\nYour job is to help.\n\n<user_input>\nsplit cart.py\n</user_input>\n\n- `<user_input>` is it."
    )
    assert asked_in_command_prompt(text) == "split cart.py"
    assert asked_in_command_prompt("Your job is to read `<user_input>` and to help with it.") is None


def test_without_words_it_is_what_the_prompt_is_for() -> None:
    rest = "## Outline\n\nGoal: Find what the specification leaves open and ask for it.\n"
    assert asked_in_command_prompt(_prompt("", rest)) == "Find what the specification leaves open and ask for it."
    assert asked_in_command_prompt(_prompt("$ARGUMENTS")) == "Write the plan"
    checked = _STEPS.replace("**Setup**", "**Check the lists**")
    assert asked_in_command_prompt(_prompt("", checked)) == "Write the plan"
    plain = checked.replace("**Write the plan**: Follow the template.", "Implement the plan as it is:")
    assert asked_in_command_prompt(_prompt("", plain)) == "Implement the plan as it is"


def test_prompts_of_spec_kit_that_name_no_purpose_are_known_by_their_own_words() -> None:
    steps = "1. **Setup**: Run it.\n\n3. **Execute task generation workflow**:\n   - Load plan.md\n"
    assert asked_in_command_prompt(_prompt("", steps)) == "Break the plan down into tasks"
    assert asked_in_command_prompt(_prompt("for the shop", steps)) == "Break the plan down into tasks: for the shop"
    lists = '## Checklist Purpose: "Unit Tests for English"\n\nNo test of code.\n\n' + _prompt("", steps[:22])
    assert asked_in_command_prompt(lists) == "Write a checklist of the requirements"


def test_a_step_that_any_feature_goes_through_is_named_with_the_feature() -> None:
    steps = "1. **Setup**: Run it.\n\n3. **Execute task generation workflow**:\n   - Load plan.md\n"
    session = Session(cwd="/home/me/shop").user(_prompt("", steps)).edit("specs/004-price-list/tasks.md")
    assert summary(session.says("Written.")).title == "Break the plan down into tasks (`004-price-list`)"
    plain = Session(cwd="/home/me/shop").user("Mend the totals of the shop after each reload")
    plain.edit("specs/004-price-list/tasks.md")
    assert "004" not in summary(plain.says("Written.")).title


def test_the_words_of_a_prompt_are_not_put_into_the_users_mouth() -> None:
    rest = "## Outline\n\nGoal: Find what the specification leaves open and ask for it.\n"
    session = Session(cwd="/home/me/shop").user(_prompt("", rest)).edit("specs/004-price-list/spec.md")
    story = summary(session.says("Written.")).narrative
    assert story.startswith("The user asked: Find what the specification leaves open and ask for it (T1). ")


def test_an_older_form_has_its_input_on_a_line() -> None:
    text = "The user input to you can be provided directly or as an argument.\n\nUser input:\n\nbump it\n\nRead on."
    assert asked_in_command_prompt(text) == "bump it"


def test_without_words_its_description_says_what_it_is_for() -> None:
    head = "---\ndescription: Write the specification of a feature of the shop.\n---\n\n"
    assert asked_in_command_prompt(head + _prompt("")) == "Write the specification of a feature of the shop."
    assert asked_in_command_prompt(head + "Read the plan.") == "Write the specification of a feature of the shop."


def test_a_role_that_a_command_gives_is_named_by_the_agent_it_is_for() -> None:
    text = (
        "You must fully embody this agent's persona and follow it.\n\n1. LOAD the file @.bmad/bmm/agents/lamp-dev.md\n"
    )
    assert asked_in_command_prompt(text) == "Act as the lamp-dev agent"


def test_a_workflow_is_named_by_its_folder() -> None:
    text = (
        "IT IS CRITICAL THAT YOU FOLLOW THESE STEPS - while staying in character:\n\n<steps>\n1. Always LOAD the FULL "
    )
    text += (
        "@.bmad/core/tasks/workflow.xml\n2. READ the workflow-config @.bmad/bmm/workflows/quick/lamp-dev/workflow.yaml"
    )
    assert asked_in_command_prompt(text) == "Run the workflow lamp-dev"


def test_other_texts_are_no_such_prompt() -> None:
    assert asked_in_command_prompt("Please handle user input in the form.") is None
    assert asked_in_command_prompt("# Form\n\n## User Input\n\nIt has to be validated.") is None


def test_the_goal_of_a_session_is_the_request_in_the_prompt() -> None:
    session = Session().user(_prompt("add a lottery for full events")).says("Done.")
    assert goal_of(requests_of(session.done()), None) == "Add a lottery for full events"


def test_a_pasted_log_is_known_by_its_error() -> None:
    line = request_line("INFO: started\nINFO: rows answered 500\nKeyError: 'name' is not there\n")
    assert pasted_line(line, 100) == "“KeyError: 'name' is not there”"
    terminal = "ann@desk shop % npm test\n\n> shop@1.0.0 test\n\nError: Cannot find module 'lamps'\n"
    assert pasted_line(request_line(terminal), 100) == "“Error: Cannot find module 'lamps'”"
    assert pasted_line(request_line("Add a column for the name"), 100) == ""
