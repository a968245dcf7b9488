// Code and tables that scroll are reached by the keyboard too.
document$.subscribe(() => {
  for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap, .md-typeset__table"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
})
