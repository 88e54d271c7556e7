"use strict";
/* Before anything is drawn: the theme that the reader chose last. */
try {
  const theme = localStorage.getItem("gnt-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage may be closed to files; then the system's theme stays */ }
