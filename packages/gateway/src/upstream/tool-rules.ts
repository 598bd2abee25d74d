import { type JsonObject, sha256Hex, sortMembers } from '@x/core'
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

/** Under which names one upstream's tools are offered. */
export interface ToolNames {
  /** Undefined for a tool that is not offered. */
  offeredName(tool: string): string | undefined
  /** Undefined if no tool can have this name. */
  toolOf(offeredName: string): string | undefined
  /** Rules that no tool has matched so far, such as `deny "drop"`. Each is returned once. */
  takeUnmatched(): readonly string[]
  /** Tools that are not offered because another one, beside each, is renamed to their name. Each is returned once. */
  takeHidden(): readonly (readonly [string, string])[]
  /** Offered names that end with a digest, also of prompts. */
  readonly replaced: ReplacedNames
}

/** A caller logs in with this tool of the gateway itself. An upstream cannot offer a tool of this name. */
export const loginTool = 'login'

/**
 * With `hasLogin`, the name `login` belongs to the gateway.
 *
 * @throws TypeError for a name that two tools would have, or that no tool can have.
 */
export function createToolNames(rules: ToolRules, hasLogin = false): ToolNames {
  const { allow, deny, rename = {} } = rules
  const allowed = allow && new Set(allow)
  const denied = new Set(deny)
  const offeredNames = new Map(Object.entries(rename))
  const tools = new Map(Array.from(offeredNames, ([tool, name]) => [name, tool]))
  if (tools.size < offeredNames.size) throw new TypeError('tools.rename gives two tools the same name')
  for (const name of tools.keys()) checkNewName(name, hasLogin)
  const unmatched = rulesByTool(rules)
  const unreportedNames = new Set(tools.keys())
  let newlyHidden: [string, string][] = []
  const isOffered = (tool: string): boolean => (allowed?.has(tool) ?? true) && !denied.has(tool) && isToolName(tool)
  const toolOf = (name: string): string | undefined => {
    if (hasLogin && name === loginTool) return undefined
    const tool = tools.get(name) ?? (offeredNames.has(name) ? undefined : name)
    return tool !== undefined && isOffered(tool) ? tool : undefined
  }
  const offeredName = (tool: string): string | undefined => {
    unmatched.delete(tool)
    const name = offeredNames.get(tool) ?? tool
    const renamedTool = tools.get(tool)
    if (name === tool && renamedTool !== undefined && isOffered(tool) && unreportedNames.delete(tool))
      newlyHidden.push([tool, renamedTool])
    return toolOf(name) === tool ? name : undefined
  }
  const takeUnmatched = (): readonly string[] => {
    const unmatchedRules = [...unmatched.values()].flat()
    unmatched.clear()
    return unmatchedRules
  }
  const takeHidden = (): readonly (readonly [string, string])[] => {
    const taken = newlyHidden
    newlyHidden = []
    return taken
  }
  return { offeredName, toolOf, takeUnmatched, takeHidden, replaced: new ReplacedNames() }
}

function checkNewName(name: string, hasLogin: boolean): void {
  if (!isToolName(name))
    throw new TypeError(
      `tools.rename has the name ${JSON.stringify(name)}, which is not 1 to 128 of the characters A-Z a-z 0-9 _ . -`,
    )
  if (hasLogin && name === loginTool)
    throw new TypeError(`tools.rename has the name ${loginTool}, which is the tool of the gateway at this upstream`)
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
