import { createTheme, type MantineColorsTuple } from "@mantine/core";

/** Mantine derives shades where a component asks for one; `theme.css` has the colors that are shown. */
const ACCENT = Array.from({ length: 10 }, () => "var(--accent)") as unknown as MantineColorsTuple;

/** Mantine with the tokens of `theme.css`. */
export const theme = createTheme({
  primaryColor: "accent",
  colors: { accent: ACCENT },
  fontFamily: "var(--font-ui)",
  fontFamilyMonospace: "var(--font-code)",
  fontSizes: {
    xs: "var(--text-xs)",
    sm: "var(--text-sm)",
    md: "var(--text-md)",
    lg: "var(--text-lg)",
    xl: "var(--text-xl)",
  },
  spacing: {
    xs: "var(--space-1)",
    sm: "var(--space-2)",
    md: "var(--space-3)",
    lg: "var(--space-4)",
    xl: "var(--space-5)",
  },
  radius: { sm: "var(--radius-control)", md: "var(--radius-control)", lg: "var(--radius-panel)" },
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // The menu is in a landmark, and its first item has the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, portalProps: { target: "#main" } } },
    // The header of a dialog is not the banner of the page.
    Modal: { defaultProps: { attributes: { header: { role: "none" } } } },
  },
});
