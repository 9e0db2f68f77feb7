var root = document.documentElement, over = root.scrollWidth > root.clientWidth ? root.scrollWidth : 0;
var unreached = 0;
document.querySelectorAll('details').forEach(function (part) { part.open = true; });
document.querySelectorAll('a, summary, [tabindex]').forEach(function (part) { part.focus(); if (document.activeElement !== part) unreached++; });
if (root.scrollWidth > root.clientWidth) over = root.scrollWidth;
root.dataset.probe = 'over=' + over + ' unreached=' + unreached + ' ground=' + getComputedStyle(document.body).backgroundColor.replace(/ /g, '') + ' width=' + innerWidth;
