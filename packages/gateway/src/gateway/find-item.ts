import { isJsonObject, type JsonObject } from '@x/core'
import { askMember, type HostRequest, type Member } from '../upstream/member.ts'
import { encodeName, mayBeShortened } from '../names/names.ts'

/** The number of pages that are read to find one item. */
const maxPages = 100

/** A list of one upstream. */
interface MemberList {
  readonly member: Member
  readonly method: 'tools/list' | 'prompts/list'
  readonly items: 'tools' | 'prompts'
}

/** Returns the list of the tools of an upstream. */
export const toolsOf = (member: Member): MemberList => ({ member, method: 'tools/list', items: 'tools' })
/** Returns the list of the prompts of an upstream. */
export const promptsOf = (member: Member): MemberList => ({ member, method: 'prompts/list', items: 'prompts' })

/**
 * Returns the name at the upstream for a name without the prefix of the upstream. A shortened name is looked up in the
 * list of the upstream.
 */
export async function findInnerName(
  { inner, name }: { readonly inner: string; readonly name: string },
  list: MemberList,
  host: HostRequest,
): Promise<string> {
  if (!mayBeShortened(name)) return inner
  const { member, items } = list
  const offeredName = (each: string): string | undefined =>
    items === 'tools' ? member.toolNames.offeredName(each) : each
  for await (const item of readItems(list, host)) {
    const offered = offeredName(String(item['name']))
    if (offered !== undefined && (await encodeName(member.name, offered)) === name) return offered
  }
  return inner
}

/** Returns true if the definition of a tool is the accepted one, or the upstream has no pins. */
export async function hasAcceptedDefinition(member: Member, tool: string, host: HostRequest): Promise<boolean> {
  const { pins } = member
  if (pins === undefined || pins.isFresh(tool)) return true
  for await (const item of readItems(toolsOf(member), host)) if (item['name'] === tool) return pins.check(item)
  return false
}

async function* readItems({ member, method, items }: MemberList, host: HostRequest): AsyncGenerator<JsonObject, void> {
  const { _meta } = host.request.params ?? {}
  let cursor: JsonObject = {}
  for (let page = 0; page < maxPages; page += 1) {
    const request = { ...host.request, method, params: { ...cursor, ...(isJsonObject(_meta) && { _meta }) } }
    const answer = await askMember(member, { ...host, request })
    if (!('result' in answer)) return
    const { [items]: found, nextCursor } = answer.result
    for (const item of Array.isArray(found) ? found : []) if (isJsonObject(item)) yield item
    if (typeof nextCursor !== 'string') return
    cursor = { cursor: nextCursor }
  }
}
