import {
  createBlockSpec,
  createImageBlockConfig,
  imageParse,
  imageRender,
  imageToExternalHTML,
} from "@blocknote/core";

const config = createImageBlockConfig({});
const render = imageRender();
const exported = imageToExternalHTML();

/** An image with a caption, and a text for those who do not see it. */
export const image = createBlockSpec(
  { type: "image", propSchema: { ...config.propSchema, alt: { default: "" } }, content: "none" },
  {
    meta: { fileBlockAccept: ["image/*"] },
    runsBefore: ["file"],
    parse: imageParse(),
    render: (block, editor) => {
      // The additional property is nothing to it.
      const view = render(block, editor as never);
      const shown = view.dom.querySelector("img");
      if (shown !== null) shown.alt = block.props.alt || block.props.caption || block.props.name;
      return view;
    },
    toExternalHTML: (block, editor) => exported(block, editor as never),
  },
)();
