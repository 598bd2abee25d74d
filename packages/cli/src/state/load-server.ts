import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { codeOf, messageOf } from '@x/core'
import type { Server } from '@x/exchange'
import { CliError } from '../cli-error.ts'

/** The module exports its server as `server` or by default. */
export async function loadServer(path: string): Promise<Server> {
  const exported = await importModule(path)
  for (const name of ['server', 'default']) {
    const value: unknown = Reflect.get(exported, name)
    if (isServer(value)) return value
  }
  throw new CliError('usage', `${path} exports no server; export the result of createServer as "server" or by default`)
}

async function importModule(path: string): Promise<object> {
  try {
    const exported: unknown = await import(/* @vite-ignore */ pathToFileURL(resolve(path)).href)
    return Object(exported)
  } catch (cause) {
    const isTypeScript = codeOf(cause) === 'ERR_UNKNOWN_FILE_EXTENSION'
    const remedy = isTypeScript ? ': this version of Node runs no TypeScript, so give the built module' : ''
    throw new CliError('usage', `${path} cannot be imported${remedy}: ${messageOf(cause)}`, { cause })
  }
}

/** Asks for the members that hosts call: a package of another version may have made the server. */
function isServer(value: unknown): value is Server {
  return (
    typeof value === 'object' &&
    value !== null &&
    'exchange' in value &&
    typeof value.exchange === 'function' &&
    'close' in value &&
    typeof value.close === 'function'
  )
}
