import { readFile, rename, writeFile } from 'node:fs/promises'
import { isJsonObject, type JsonObject, parseJsonObject, randomId } from '@x/core'
import type { PinStore } from '../upstream/tool-rules.ts'

/** The accepted tools of all upstreams of a gateway, in one JSON file that a person may edit. */
export interface PinFile {
  /** Returns the store of an upstream. */
  storeOf(upstream: string): PinStore
  /** Removes a tool, so that its next definition is accepted. Returns false for a tool that has no digest. */
  remove(upstream: string, tool: string): Promise<boolean>
}

/**
 * Opens the file at a path. The file is created with the first tool. Instances on one machine may share it, and one
 * that changes it at the same moment as another can lose the digest of a new tool, which is then accepted once more.
 * Nothing is read yet: the functions of the result reject with a `SyntaxError` for a file that is no JSON object.
 */
export function openPinFile(path: string): PinFile {
  let writing: Promise<unknown> = Promise.resolve()
  const change = <T>(edit: (pins: Pins) => T): Promise<T> => {
    const changed = writing.then(() => changeFile(path, edit))
    writing = changed.catch(() => {})
    return changed
  }
  return {
    storeOf: (upstream) => ({
      get: async (tool) => (await readPins(path)).get(upstream)?.get(tool),
      add: (tool, digest) =>
        change((pins) => {
          const own = pins.get(upstream) ?? new Map<string, string>()
          const accepted = own.get(tool) ?? digest
          pins.set(upstream, own.set(tool, accepted))
          return accepted
        }),
    }),
    remove: (upstream, tool) => change((pins) => pins.get(upstream)?.delete(tool) === true),
  }
}

/** The digests, by upstream and tool. */
type Pins = Map<string, Map<string, string>>

async function changeFile<T>(path: string, edit: (pins: Pins) => T): Promise<T> {
  const pins = await readPins(path)
  const before = toText(pins)
  const result = edit(pins)
  const text = toText(pins)
  if (text === before) return result
  const newPath = `${path}.${randomId()}`
  await writeFile(newPath, text)
  await rename(newPath, path)
  return result
}

function toText(pins: Pins): string {
  const upstreams = Array.from(pins, ([upstream, tools]) => [upstream, Object.fromEntries(tools)])
  return `${JSON.stringify(Object.fromEntries(upstreams), undefined, 2)}\n`
}

async function readPins(path: string): Promise<Pins> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  const value = parseJsonObject(text)
  if (value === undefined) throw new SyntaxError(`${path} is no JSON object`)
  return new Map(
    Object.entries(value).flatMap(([upstream, tools]) => (isJsonObject(tools) ? [[upstream, readDigests(tools)]] : [])),
  )
}

function readDigests(tools: JsonObject): Map<string, string> {
  return new Map(Object.entries(tools).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
