/** Under which the device keeps the width of the sidebar, such as `280px`. */
export const SIDE_WIDTH_KEY = "weft.side_width";
/** The token with the width of the sidebar. */
export const SIDE_WIDTH_PROPERTY = "--width-side";
