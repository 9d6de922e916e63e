import type { LinkReach, LinkRole } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";
import type { Position } from "../documents/tree/move-target.ts";
import type { Operation, User, Viewer } from "./test-sharing-scenario.ts";

const REACHES: readonly LinkReach[] = ["restricted", "authenticated", "public"];
/** Roles by rank, 0 to 5. */
const RANKS: readonly (Role | null)[] = [null, "reader", "commenter", "editor", "administrator", "owner"];
const rankOf = (role: Role | null): number => RANKS.indexOf(role);
const [READER, EDITOR, ADMINISTRATOR, OWNER] = [1, 3, 4, 5] as const;

interface TreeNode {
  parent: string | null;
  readonly children: string[];
  isDeleted: boolean;
  readonly creator: User;
  reach: LinkReach;
  linkRole: LinkRole;
  roles: Map<User, Role>;
}

type ModelOperation<Name extends Operation["is"]> = Extract<Operation, { is: Name }>;

/**
 * An independent model of the document tree in plain lists, by the rules of the reference, to compare the product with.
 * Reference 2.2, 2.3, 3.1 to 3.3.
 */
export class TreeModel {
  readonly nodes = new Map<string, TreeNode>();

  node(id: string): TreeNode {
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error(`document not found: ${id}`);
    return node;
  }

  /** The document and its ancestors, root first. */
  pathTo(id: string): string[] {
    const { parent } = this.node(id);
    return parent === null ? [id] : [...this.pathTo(parent), id];
  }

  isLive(id: string): boolean {
    return this.pathTo(id).every((above) => !this.node(above).isDeleted);
  }

  /** Rank of the own or inherited role. */
  roleRank(id: string, who: Viewer): number {
    if (who === "nobody") return 0;
    return Math.max(...this.pathTo(id).map((above) => rankOf(this.node(above).roles.get(who) ?? null)));
  }

  /** Rank of the link: the highest role among the links with the widest reach, own and inherited. */
  linkRank(id: string, who: Viewer): number {
    const links = this.pathTo(id).map((above) => this.node(above));
    const widest = Math.max(...links.map(({ reach }) => REACHES.indexOf(reach)));
    if (widest === 0 || (widest === 1 && who === "nobody")) return 0;
    const open = links.filter(({ reach }) => REACHES.indexOf(reach) === widest);
    return Math.max(...open.map(({ linkRole }) => rankOf(linkRole)));
  }

  /** The highest of own, inherited and link rank. */
  rank(id: string, who: Viewer): number {
    return Math.max(this.roleRank(id, who), this.linkRank(id, who));
  }

  /** The status of a rejected request, before the operation is validated; undefined if it is allowed. */
  deniedStatus(id: string, who: User, may: boolean): number | undefined {
    if (!this.isLive(id)) return this.roleRank(id, who) === OWNER ? 403 : 404;
    return may ? undefined : 403;
  }

  create(id: string, creator: User): void {
    const roles = new Map<User, Role>([[creator, "owner"]]);
    this.nodes.set(id, {
      parent: null,
      children: [],
      isDeleted: false,
      creator,
      reach: "restricted",
      linkRole: "reader",
      roles,
    });
  }

  child(id: string, parent: string, creator: User): void {
    this.create(id, creator);
    this.node(id).roles.clear();
    this.node(id).parent = parent;
    this.node(parent).children.push(id);
  }

  childStatus(id: string, { who }: ModelOperation<"child">): number {
    return this.deniedStatus(id, who, this.rank(id, who) >= EDITOR) ?? 201;
  }

  deleteStatus(id: string, { who }: ModelOperation<"delete">): number {
    const { parent, creator } = this.node(id);
    const rank = this.roleRank(id, who);
    const may = parent === null ? rank === OWNER : rank >= ADMINISTRATOR || creator === who;
    return this.deniedStatus(id, who, may) ?? 204;
  }

  delete(id: string): void {
    this.node(id).isDeleted = true;
    this.#takeOut(id);
  }

  restoreStatus(id: string, { who }: ModelOperation<"restore">): number {
    const owns = this.roleRank(id, who) === OWNER;
    if (!this.isLive(id)) return owns ? (this.node(id).isDeleted ? 200 : 400) : 404;
    return owns ? 400 : 403;
  }

  /** Restores it to the given position among its siblings. */
  restore(id: string, siblings: readonly string[]): void {
    const node = this.node(id);
    node.isDeleted = false;
    if (node.parent !== null) this.node(node.parent).children.splice(siblings.indexOf(id), 0, id);
  }

  giveStatus(id: string, { who, whom, role }: ModelOperation<"give">): number {
    const rank = this.roleRank(id, who);
    const denied = this.deniedStatus(id, who, rank >= ADMINISTRATOR && (role !== "owner" || rank === OWNER));
    return denied ?? (this.node(id).roles.has(whom) ? 400 : 201);
  }

  takeStatus(id: string, { who, whom }: ModelOperation<"take">): number {
    const { roles, parent } = this.node(id);
    const rank = this.roleRank(id, who);
    const denied = this.deniedStatus(id, who, rank >= READER);
    if (denied !== undefined) return denied;
    const role = roles.get(whom);
    if (role === undefined) return 404;
    if (role !== "owner") return rank >= ADMINISTRATOR ? 204 : 403;
    const owners = [...roles.values()].filter((one) => one === "owner");
    return rank === OWNER && (parent !== null || owners.length > 1) ? 204 : 403;
  }

  linkStatus(id: string, { who, reach, role }: ModelOperation<"link">): number {
    const denied = this.deniedStatus(id, who, this.roleRank(id, who) >= ADMINISTRATOR);
    if (denied !== undefined) return denied;
    const above = this.pathTo(id)
      .slice(0, -1)
      .map((one) => this.node(one));
    const widest = Math.max(0, ...above.map((one) => REACHES.indexOf(one.reach)));
    if (REACHES.indexOf(reach) < widest) return 400;
    const open = above.filter((one) => widest > 0 && REACHES.indexOf(one.reach) === widest);
    return reach !== "restricted" && open.some(({ linkRole }) => rankOf(linkRole) > rankOf(role)) ? 400 : 200;
  }

  moveStatus(id: string, target: string, { who, position }: ModelOperation<"move">): number {
    const denied = this.deniedStatus(id, who, this.roleRank(id, who) >= ADMINISTRATOR);
    if (denied !== undefined) return denied;
    if (!this.isLive(target) || this.pathTo(target).includes(id)) return 400;
    const into = position.endsWith("child") ? target : this.node(target).parent;
    return into === null || this.roleRank(into, who) >= ADMINISTRATOR ? 200 : 400;
  }

  move(id: string, target: string, position: Position): void {
    const node = this.node(id);
    const [formerRoot = id] = this.pathTo(id);
    const wasRoot = node.parent === null;
    const into = position.endsWith("child") ? target : this.node(target).parent;
    this.#takeOut(id);
    node.parent = into;
    if (into === null) {
      // The owners of the previous tree own the new root.
      const owners = [...this.node(formerRoot).roles].filter(([, role]) => role === "owner");
      node.roles = new Map(owners);
      return;
    }
    if (wasRoot || this.pathTo(into)[0] !== formerRoot) node.roles.clear();
    const { children } = this.node(into);
    const beside = children.indexOf(target);
    const at = { left: beside, right: beside + 1 }[position as string];
    children.splice(at ?? (position.startsWith("first") ? 0 : children.length), 0, id);
  }

  #takeOut(id: string): void {
    const { parent } = this.node(id);
    if (parent === null) return;
    const { children } = this.node(parent);
    const at = children.indexOf(id);
    if (at >= 0) children.splice(at, 1);
  }
}
