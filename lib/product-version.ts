/** The product's version, as in package.json, which bundles do not contain. */
export const PRODUCT_VERSION = "0.1.0";
