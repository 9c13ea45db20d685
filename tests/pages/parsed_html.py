"""An HTML page as a browser would parse it, and what no report may contain."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}
LOADING = {"img", "iframe", "link", "object", "embed", "form", "base", "video", "audio", "foreignobject"}


class ParsedHtml(HTMLParser):
    """Tags, ids and text of a page whose tags balance."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"
        self.ids = [attributes["id"] for _, attributes in self.tags if "id" in attributes]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_harmless(page: ParsedHtml) -> None:
    """Nothing is loaded or run, and links lead to the web or within the page; ids are unique."""
    assert len(page.ids) == len(set(page.ids))
    for tag, attributes in page.tags:
        assert tag not in LOADING
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in {"src", "srcset", "action", "formaction", "background", "data", "poster"}, (tag, name)
            if name == "href":
                assert tag == "a"
                assert str(value).lower().startswith(("#", "http://", "https://", "mailto:")), value
            if name == "style":
                assert "url" not in str(value)
