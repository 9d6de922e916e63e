import type { LinkReach, LinkRole } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";
import type { Position } from "../documents/tree/move-target.ts";
import type { Deed, User, Viewer } from "./test-world.ts";

const REACHES: readonly LinkReach[] = ["restricted", "authenticated", "public"];
/** What one may do, from nothing on: 0 to 5. */
const RANKS: readonly (Role | null)[] = [null, "reader", "commenter", "editor", "administrator", "owner"];
const rankOf = (role: Role | null): number => RANKS.indexOf(role);
const [READER, EDITOR, ADMINISTRATOR, OWNER] = [1, 3, 4, 5] as const;

interface Node {
  parent: string | null;
  readonly children: string[];
  isDeleted: boolean;
  readonly creator: User;
  reach: LinkReach;
  linkRole: LinkRole;
  roles: Map<User, Role>;
}

type DeedOf<Name extends Deed["is"]> = Extract<Deed, { is: Name }>;

/**
 * Documents as plain lists, and what becomes of them by the words of the reference: written apart from the product, so
 * that both can be wrong, but hardly in the same way. Reference 2.2, 2.3, 3.1 to 3.3.
 */
export class TreeModel {
  readonly nodes = new Map<string, Node>();

  of(id: string): Node {
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error(`there is no ${id}`);
    return node;
  }

  /** The document and all that it lies in, root first. */
  line(id: string): string[] {
    const { parent } = this.of(id);
    return parent === null ? [id] : [...this.line(parent), id];
  }

  isLive(id: string): boolean {
    return this.line(id).every((above) => !this.of(above).isDeleted);
  }

  /** Own and inherited. */
  roleRank(id: string, who: Viewer): number {
    if (who === "nobody") return 0;
    return Math.max(...this.line(id).map((above) => rankOf(this.of(above).roles.get(who) ?? null)));
  }

  /** By the widest link alone: the highest role that it gives anywhere above. */
  linkRank(id: string, who: Viewer): number {
    const links = this.line(id).map((above) => this.of(above));
    const widest = Math.max(...links.map(({ reach }) => REACHES.indexOf(reach)));
    if (widest === 0 || (widest === 1 && who === "nobody")) return 0;
    const open = links.filter(({ reach }) => REACHES.indexOf(reach) === widest);
    return Math.max(...open.map(({ linkRole }) => rankOf(linkRole)));
  }

  /** What somebody may do with a live document: the most of own, inherited and link, and nothing above it. */
  rank(id: string, who: Viewer): number {
    return Math.max(this.roleRank(id, who), this.linkRank(id, who));
  }

  /** Status for who tries something, before anything about the deed itself is looked at; undefined for who may. */
  denied(id: string, who: User, may: boolean): number | undefined {
    if (!this.isLive(id)) return this.roleRank(id, who) === OWNER ? 403 : 404;
    return may ? undefined : 403;
  }

  create(id: string, creator: User): void {
    const roles = new Map<User, Role>([[creator, "owner"]]);
    this.nodes.set(id, {
      ...{ parent: null, children: [], isDeleted: false, creator, reach: "restricted" },
      ...{ linkRole: "reader", roles },
    });
  }

  child(id: string, parent: string, creator: User): void {
    this.create(id, creator);
    this.of(id).roles.clear();
    this.of(id).parent = parent;
    this.of(parent).children.push(id);
  }

  childStatus(id: string, { who }: DeedOf<"child">): number {
    return this.denied(id, who, this.rank(id, who) >= EDITOR) ?? 201;
  }

  deleteStatus(id: string, { who }: DeedOf<"delete">): number {
    const { parent, creator } = this.of(id);
    const rank = this.roleRank(id, who);
    const may = parent === null ? rank === OWNER : rank >= ADMINISTRATOR || creator === who;
    return this.denied(id, who, may) ?? 204;
  }

  delete(id: string): void {
    this.of(id).isDeleted = true;
    this.#takeOut(id);
  }

  restoreStatus(id: string, { who }: DeedOf<"restore">): number {
    const owns = this.roleRank(id, who) === OWNER;
    if (!this.isLive(id)) return owns ? (this.of(id).isDeleted ? 200 : 400) : 404;
    return owns ? 400 : 403;
  }

  /** At the place among its siblings where it is found to be. */
  restore(id: string, siblings: readonly string[]): void {
    const node = this.of(id);
    node.isDeleted = false;
    if (node.parent !== null) this.of(node.parent).children.splice(siblings.indexOf(id), 0, id);
  }

  giveStatus(id: string, { who, whom, role }: DeedOf<"give">): number {
    const rank = this.roleRank(id, who);
    const denied = this.denied(id, who, rank >= ADMINISTRATOR && (role !== "owner" || rank === OWNER));
    return denied ?? (this.of(id).roles.has(whom) ? 400 : 201);
  }

  takeStatus(id: string, { who, whom }: DeedOf<"take">): number {
    const { roles, parent } = this.of(id);
    const rank = this.roleRank(id, who);
    const denied = this.denied(id, who, rank >= READER);
    if (denied !== undefined) return denied;
    const role = roles.get(whom);
    if (role === undefined) return 404;
    if (role !== "owner") return rank >= ADMINISTRATOR ? 204 : 403;
    const owners = [...roles.values()].filter((one) => one === "owner");
    return rank === OWNER && (parent !== null || owners.length > 1) ? 204 : 403;
  }

  linkStatus(id: string, { who, reach, role }: DeedOf<"link">): number {
    const denied = this.denied(id, who, this.roleRank(id, who) >= ADMINISTRATOR);
    if (denied !== undefined) return denied;
    const above = this.line(id)
      .slice(0, -1)
      .map((one) => this.of(one));
    const widest = Math.max(0, ...above.map((one) => REACHES.indexOf(one.reach)));
    if (REACHES.indexOf(reach) < widest) return 400;
    const open = above.filter((one) => widest > 0 && REACHES.indexOf(one.reach) === widest);
    return reach !== "restricted" && open.some(({ linkRole }) => rankOf(linkRole) > rankOf(role)) ? 400 : 200;
  }

  moveStatus(id: string, target: string, { who, position }: DeedOf<"move">): number {
    const denied = this.denied(id, who, this.roleRank(id, who) >= ADMINISTRATOR);
    if (denied !== undefined) return denied;
    if (!this.isLive(target) || this.line(target).includes(id)) return 400;
    const into = position.endsWith("child") ? target : this.of(target).parent;
    return into === null || this.roleRank(into, who) >= ADMINISTRATOR ? 200 : 400;
  }

  move(id: string, target: string, position: Position): void {
    const node = this.of(id);
    const [formerRoot = id] = this.line(id);
    const wasRoot = node.parent === null;
    const into = position.endsWith("child") ? target : this.of(target).parent;
    this.#takeOut(id);
    node.parent = into;
    if (into === null) {
      // Who owns the tree that it comes from owns it.
      const owners = [...this.of(formerRoot).roles].filter(([, role]) => role === "owner");
      node.roles = new Map(owners);
      return;
    }
    if (wasRoot || this.line(into)[0] !== formerRoot) node.roles.clear();
    const { children } = this.of(into);
    const beside = children.indexOf(target);
    const at = { left: beside, right: beside + 1 }[position as string];
    children.splice(at ?? (position.startsWith("first") ? 0 : children.length), 0, id);
  }

  #takeOut(id: string): void {
    const { parent } = this.of(id);
    if (parent === null) return;
    const { children } = this.of(parent);
    const at = children.indexOf(id);
    if (at >= 0) children.splice(at, 1);
  }
}
