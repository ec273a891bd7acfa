// The search: a box in the head of each page. It loads the index when somebody begins to type; search.py says what is in it.
// All words have to be found, each as the beginning of a word. Names count most, then titles, then the text.
"use strict";
(() => {
    const root = document.currentScript.dataset.root;
    const most = 20;

    const box = document.createElement("input");
    box.type = "search";
    box.placeholder = "Search (press /)";
    box.setAttribute("aria-label", "Search the manual and the guides");
    box.autocomplete = "off";
    const found = document.createElement("ul");
    found.className = "found";
    found.hidden = true;
    found.setAttribute("aria-label", "Pages that were found");
    const search = document.createElement("div");
    search.className = "search";
    search.append(box, found);
    document.querySelector("header").append(search);

    let index = null, loading = false;

    function load() {
        if (index || loading)
            return;
        loading = true;
        const script = document.createElement("script");
        script.src = root + "search-index.js";
        script.onload = () => {
            index = window.paddockIndex.map(([address, title, about, words]) => ({
                address, title, about, name: title.toLowerCase(),
                titleWords: title.toLowerCase().split(/[^a-z0-9_]+/),
                aboutWords: about.toLowerCase().split(/[^a-z0-9_]+/),
                words: words.split(" ")
            }));
            show();
        };
        document.head.append(script);
    }

    // How well an entry fits a word; 0: not at all.
    function fits(entry, word) {
        const begins = one => one.startsWith(word);
        if (entry.titleWords.includes(word))
            return 40;
        const parts = entry.titleWords.flatMap(one => one.split("_"));
        if (parts.includes(word))
            return 36;
        if (entry.titleWords.some(begins) || parts.some(begins))
            return 20;
        if (entry.aboutWords.some(begins))
            return 8;
        if (entry.words.includes(word))
            return 4;
        return entry.words.some(begins) ? 2 : 0;
    }

    function ranked(words) {
        const rows = [];
        for (const entry of index) {
            let points = entry.name.split(" ")[0] === words[0] ? 50 : 0;
            if (words.every(word => {
                const more = fits(entry, word);
                points += more;
                return more > 0;
            }))
                rows.push({entry, points: entry.address.startsWith("docs/adr/") ? points / 2 : points}); // for those who work on it
        }
        return rows.sort((a, b) => b.points - a.points || a.entry.title.length - b.entry.title.length).slice(0, most);
    }

    function show() {
        const words = box.value.toLowerCase().split(/[^a-z0-9_]+/).filter(Boolean);
        found.hidden = !index || words.length === 0;
        if (found.hidden)
            return;
        const rows = ranked(words);
        found.replaceChildren(...rows.map(({entry}) => {
            const row = document.createElement("li"), link = document.createElement("a"), title = document.createElement("b"),
                about = document.createElement("span");
            link.href = root + entry.address;
            title.textContent = entry.title;
            about.textContent = entry.about;
            link.append(title, about);
            row.append(link);
            return row;
        }));
        if (rows.length === 0)
            found.replaceChildren(Object.assign(document.createElement("li"), {textContent: "Nothing has all of these words."}));
    }

    function step(by) {
        const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement) + by;
        (at < 0 ? box : links[Math.min(at, links.length - 1)] || box).focus();
    }

    box.addEventListener("focus", load);
    box.addEventListener("input", () => { load(); show(); });
    search.addEventListener("keydown", event => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            step(event.key === "ArrowDown" ? 1 : -1);
        } else if (event.key === "Enter" && event.target === box) {
            const first = found.querySelector("a");
            if (first)
                first.click();
        } else if (event.key === "Escape") {
            found.hidden = true;
            box.blur();
        }
    });
    document.addEventListener("keydown", event => {
        if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
            event.preventDefault();
            box.focus();
        }
    });
    document.addEventListener("click", event => { found.hidden = found.hidden || !search.contains(event.target); });
})();
