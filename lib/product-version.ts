/** The product's own version, as package.json has it: a bundle has no such file beside it. */
export const PRODUCT_VERSION = "0.1.0";
