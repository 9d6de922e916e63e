import { Graph as DagreGraph, layout } from "@dagrejs/dagre";
import { type Graph, type Layout, NODE_HEIGHT, NODE_WIDTH } from "./graph-layout.ts";

/* Computes the places of a graph's nodes, which takes too long for the page itself. */
self.onmessage = ({ data: { nodes, edges } }: MessageEvent<Graph>): void => {
  const graph = new DagreGraph();
  graph.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 36 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of nodes) graph.setNode(name, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const places: Layout = Object.fromEntries(
    nodes.map((name) => {
      const { x, y } = graph.node(name);
      return [name, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }];
    }),
  );
  self.postMessage(places);
};
