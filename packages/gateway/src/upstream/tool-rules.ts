import { type JsonObject, quoteText, sha256Hex, sortMembers } from '@x/core'
import { isToolName, ReplacedNames } from '../names/names.ts'

/** Keeps the digests of an upstream's accepted tools. Every instance needs the same store. */
export interface PinStore {
  /** A tool's accepted digest. Undefined for a tool that was never seen. */
  get(tool: string): string | undefined | Promise<string | undefined>
  /**
   * Stores the digest of a tool that was never seen. Returns the digest that is stored then, and an empty text if there
   * is no room for the tool, which is then withheld.
   */
  add(tool: string, digest: string): string | Promise<string>
}

/** The tools of an upstream that a gateway offers. Names are those at the upstream. */
export interface ToolRules {
  /** Tools to offer. Default: all. */
  readonly allow?: readonly string[] | undefined
  /** Tools that are not offered. */
  readonly deny?: readonly string[] | undefined
  /**
   * Other names for tools, without the name of the upstream. If another tool receives a tool's name, that tool is not
   * offered.
   */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /** Accepted definitions. A tool whose definition has changed since then is withheld until it is accepted. */
  readonly pins?: PinStore | undefined
}

/** A caller logs in with this tool of the gateway itself. An upstream cannot offer a tool of this name. */
export const loginTool = 'login'

/** Under which names one upstream's tools are offered. */
export class ToolNames {
  /** Offered names that end with a digest, also of prompts. */
  readonly replaced = new ReplacedNames()
  readonly #allowed: ReadonlySet<string> | undefined
  readonly #denied: ReadonlySet<string>
  readonly #hasLogin: boolean
  readonly #offeredNames: ReadonlyMap<string, string>
  readonly #tools: ReadonlyMap<string, string>
  readonly #unmatched: Map<string, readonly string[]>
  readonly #unreportedNames: Set<string>
  #newlyHidden: [string, string][] = []

  /** For rules without a {@link findRuleProblem}. With `hasLogin`, the name `login` belongs to the gateway. */
  constructor(rules: ToolRules, hasLogin: boolean) {
    const { allow, deny, rename = {} } = rules
    this.#allowed = allow && new Set(allow)
    this.#denied = new Set(deny)
    this.#hasLogin = hasLogin
    this.#offeredNames = new Map(Object.entries(rename))
    this.#tools = new Map(Array.from(this.#offeredNames, ([tool, name]) => [name, tool]))
    this.#unmatched = rulesByTool(rules)
    this.#unreportedNames = new Set(this.#tools.keys())
  }

  /** Undefined for a tool that is not offered. */
  offeredName(tool: string): string | undefined {
    this.#unmatched.delete(tool)
    const name = this.#offeredNames.get(tool) ?? tool
    const renamedTool = this.#tools.get(tool)
    if (name === tool && renamedTool !== undefined && this.#isOffered(tool) && this.#unreportedNames.delete(tool))
      this.#newlyHidden.push([tool, renamedTool])
    return this.toolOf(name) === tool ? name : undefined
  }

  /** Undefined if no tool can have this name. */
  toolOf(offeredName: string): string | undefined {
    if (this.#hasLogin && offeredName === loginTool) return undefined
    const unrenamed = this.#offeredNames.has(offeredName) ? undefined : offeredName
    const tool = this.#tools.get(offeredName) ?? unrenamed
    return tool !== undefined && this.#isOffered(tool) ? tool : undefined
  }

  /** Rules that no tool has matched so far, such as `deny "drop"`. Each is returned once. */
  takeUnmatched(): readonly string[] {
    const rules = [...this.#unmatched.values()].flat()
    this.#unmatched.clear()
    return rules
  }

  /** Tools that are not offered because another one, beside each, is renamed to their name. Each is returned once. */
  takeHidden(): readonly (readonly [string, string])[] {
    return this.#newlyHidden.splice(0)
  }

  #isOffered(tool: string): boolean {
    return (this.#allowed?.has(tool) ?? true) && !this.#denied.has(tool) && isToolName(tool)
  }
}

/** As much of the rules as a file has, too. */
type NameRules = Omit<ToolRules, 'pins'>

/**
 * Says which rules contradict one another, or which name no tool can have. Undefined if there is no problem. With
 * `hasLogin`, the name `login` belongs to the gateway.
 */
export function findRuleProblem(rules: NameRules, hasLogin: boolean): string | undefined {
  const { allow = [], deny = [], rename = {} } = rules
  const both = allow.find((tool) => deny.includes(tool))
  if (both !== undefined) return `${quoteText(both)} is in allow and in deny: remove it from one of them`
  const tools = new Map<string, string>()
  for (const [tool, name] of Object.entries(rename)) {
    const other = tools.get(name)
    const problem =
      other === undefined
        ? (findOfferProblem(tool, rules) ?? findNameProblem(name, hasLogin))
        : `and ${quoteText(other)} too: choose another name for one of them`
    if (problem !== undefined) return `rename gives ${quoteText(tool)} the name ${quoteText(name)}, ${problem}`
    tools.set(name, tool)
  }
  return undefined
}

function findOfferProblem(tool: string, { allow, deny }: NameRules): string | undefined {
  if (deny?.includes(tool) === true) return `but deny has ${quoteText(tool)}: remove one of them`
  return allow?.includes(tool) === false ? `but allow does not have ${quoteText(tool)}: add it there` : undefined
}

function findNameProblem(name: string, hasLogin: boolean): string | undefined {
  if (!isToolName(name)) return 'which is not 1 to 128 of the characters A-Z a-z 0-9 _ . -'
  return hasLogin && name === loginTool ? 'which is the tool of the gateway at this upstream' : undefined
}

function rulesByTool({ allow = [], deny = [], rename = {} }: ToolRules): Map<string, readonly string[]> {
  const rules = new Map<string, readonly string[]>()
  for (const [kind, names] of Object.entries({ allow, deny, rename: Object.keys(rename) }))
    for (const name of names) rules.set(name, [...(rules.get(name) ?? []), `${kind} ${JSON.stringify(name)}`])
  return rules
}

/**
 * SHA-256 of a tool's definition, in 64 hexadecimal digits. It covers every member, because a host may read any:
 * `_meta` names the page that a tool opens. The order of members has no effect.
 */
export function digestTool(tool: JsonObject): string | Promise<string> {
  return sha256Hex(JSON.stringify(sortMembers(tool)))
}
