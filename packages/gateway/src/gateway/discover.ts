import { isCancelled, isJsonObject, type JsonObject } from '@x/core'
import { protocolVersion } from '@x/schema'
import { MergedCaching } from './lists.ts'
import type { HostRequest } from './host-request.ts'
import { hasSessions } from './routes.ts'

/**
 * Extensions whose methods reach one of several upstreams, with the settings that are forwarded. Any other extension or
 * setting would announce what the gateway does not serve.
 */
const mergedExtensions: Readonly<Record<string, readonly string[]>> = {
  'io.modelcontextprotocol/tasks': [],
  'io.modelcontextprotocol/ui': ['mimeTypes'],
  'io.modelcontextprotocol/skills': ['directoryRead'],
}

/** Merges what all upstreams say of themselves: their capabilities, and their instructions under a heading each. */
export async function mergeDescriptions({ request, call, parts }: HostRequest): Promise<JsonObject> {
  const upstreams = Array.from(parts.upstreams.values())
  const answers = await Promise.all(upstreams.map((upstream) => upstream.askForList(request, call)))
  if (isCancelled(call)) throw call.signal.reason
  const caching = new MergedCaching()
  const descriptions: JsonObject[] = []
  const instructions: string[] = []
  for (const [index, upstream] of upstreams.entries()) {
    const answer = answers[index] ?? { isAway: true }
    caching.add(upstream, answer)
    if (!('result' in answer)) continue
    descriptions.push(answer.result)
    const { instructions: text } = answer.result
    if (typeof text === 'string' && text !== '') instructions.push(`# ${upstream.name}\n\n${fence(text)}`)
  }
  return {
    supportedVersions: [protocolVersion],
    capabilities: {
      ...mergeCapabilities(descriptions.map(({ capabilities }) => (isJsonObject(capabilities) ? capabilities : {}))),
      // A session names no upstream, so it must be one of the only upstream with sessions.
      ...(answers.filter(hasSessions).length === 1 && { sessions: {} }),
    },
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ...caching.toMembers(),
  }
}

/** Encloses a text, so that a heading in it cannot pass for the beginning of another upstream's instructions. */
function fence(text: string): string {
  const [longest = ''] = (text.match(/`{3,}/g) ?? []).toSorted((one, other) => other.length - one.length)
  const marks = longest === '' ? '```' : `${longest}\``
  return `${marks}text\n${text}\n${marks}`
}

/** Lists change when an upstream becomes unreachable, or reachable again, so the gateway always notifies of changes. */
function mergeCapabilities(all: readonly JsonObject[]): JsonObject {
  const has = (name: string): boolean => all.some((capabilities) => capabilities[name] !== undefined)
  const subscribe = all.some(({ resources }) => isJsonObject(resources) && resources['subscribe'] === true)
  const extensions = mergeExtensions(all)
  return {
    tools: { listChanged: true },
    ...(has('prompts') && { prompts: { listChanged: true } }),
    ...(has('resources') && { resources: { listChanged: true, ...(subscribe && { subscribe }) } }),
    ...(has('completions') && { completions: {} }),
    ...(has('logging') && { logging: {} }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
  }
}

function mergeExtensions(all: readonly JsonObject[]): Readonly<Record<string, JsonObject>> {
  const extensions: Record<string, JsonObject> = {}
  for (const { extensions: own } of all)
    for (const [name, passed] of Object.entries(mergedExtensions)) {
      const settings = isJsonObject(own) ? own[name] : undefined
      if (!isJsonObject(settings)) continue
      const passedSettings = Object.entries(settings).filter(([setting]) => passed.includes(setting))
      extensions[name] = { ...extensions[name], ...Object.fromEntries(passedSettings) }
    }
  return extensions
}
