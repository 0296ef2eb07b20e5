"""What a browser makes of a page: whether it scrolls sideways, breaks words in the middle, or cuts what it shows."""

from __future__ import annotations

_BROKEN = r"""() => {
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const holder = node.parentElement;
        if (holder.closest("pre, script, style, .hidden-label") || !holder.checkVisibility()) continue;
        for (const word of node.data.matchAll(/[\p{L}\p{N}]{2,}/gu)) {
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
            if (lines.size > 1) found.push(`${word[0]} in ${node.data.trim().slice(0, 80)}`);
        }
    }
    return found;
}"""
_CUT = """() => [...document.querySelectorAll("main *, header *")]
    .filter((item) => item.checkVisibility() && !item.closest(".scroll, pre, caption, .hidden-label"))
    .filter((item) => getComputedStyle(item).overflowX !== "visible" && item.scrollWidth > item.clientWidth + 1)
    .map((item) => `${item.tagName}.${item.className}: ${item.textContent.trim().slice(0, 80)}`)"""


def broken_words(page) -> list[str]:
    """Words whose letters stand on several lines; what stands between letters and digits may end a line."""
    return page.evaluate(_BROKEN)


def cut_texts(page) -> list[str]:
    """Elements whose text goes on where nobody can see it. What scrolls by itself is not cut."""
    return page.evaluate(_CUT)


def is_wider(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")
