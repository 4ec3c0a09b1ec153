from __future__ import annotations

from pivcs.session.settings import Model, Settings, settings_of


def answer(model: object, **more: object) -> dict[str, object]:
    return {"type": "message", "message": {"role": "assistant", "provider": "acme", "model": model} | more}


def test_without_changes_the_level_is_off_and_there_is_no_model() -> None:
    assert settings_of([]) == Settings("off", None)
    assert settings_of([5, None, {}, {"type": "message"}, {"type": "message", "message": []}]) == Settings()


def test_latest_change_wins_and_answers_count_as_changes() -> None:
    path = [
        {"type": "model_change", "provider": "openai", "modelId": "one"},
        {"type": "thinking_level_change", "thinkingLevel": "low"},
        {"type": "compaction", "summary": "x"},
        answer("two", stopReason="error", thinkingLevel="high", responseModel="three"),
    ]
    assert settings_of(path) == Settings("low", Model("acme", "two"))
    assert settings_of([*path, path[0]]).model == Model("openai", "one")


def test_values_of_another_type_read_as_missing() -> None:
    assert settings_of([answer(7), {"type": "thinking_level_change"}]) == Settings(None, Model("acme", None))
