import type { Exchange, JsonObject } from '@x/schema'
import type { TaskSettings } from './options.ts'
import type { TaskWatch } from './task-watch.ts'

/** What everything about the tasks of one server shares. */
export interface TaskContext {
  /** The server inside, which runs the calls. */
  readonly exchange: Exchange
  readonly settings: TaskSettings
  readonly watch: TaskWatch
}

/** A result about tasks, from the server that it is about (basic/index, `_meta`). */
export function withServerInfo(result: JsonObject, { exchange, settings }: TaskContext): JsonObject {
  const info: unknown = settings.serverInfo && 'info' in exchange ? exchange.info : undefined
  // What a server says of itself is JSON, or it could not be sent anywhere.
  return info === undefined ? result : { ...result, _meta: { [serverInfoKey]: info as JsonObject } }
}

const serverInfoKey = 'io.modelcontextprotocol/serverInfo'
