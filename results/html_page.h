/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a report's page that never change: html_page.c. */
#ifndef SHOOTDOWN_HTML_PAGE_H
#define SHOOTDOWN_HTML_PAGE_H

/* Contents of the style and the script element. */
extern const char html_style[];
extern const char html_script[];

#endif
