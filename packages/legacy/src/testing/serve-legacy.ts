import { randomBytes } from 'node:crypto'
import type { Log, LogRecord, Runtime } from '@x/core'
import { createServer, type McpServer, sealedState, type ServerDefinition } from '@x/server'
import { legacy } from '../server/legacy.ts'
import type { LegacyOptions } from '../server/options.ts'

/** Returns a log that adds the warnings of the extension to a list. An error is written to the console. */
export function collectWarnings(warnings: LogRecord[]): Log {
  return (record) => {
    if (record.level === 'error') console.error(record.message, record.err)
    else if (record.method === 'legacy') warnings.push(record)
  }
}

/** Creates a server of both eras. */
export function createLegacyServer(
  definition: Omit<ServerDefinition, 'name' | 'version'>,
  options: LegacyOptions = {},
  runtime: Partial<Runtime> = {},
): McpServer {
  const state = sealedState({ keys: [randomBytes(32)] })
  const extensions = [legacy(options)]
  const log = collectWarnings([])
  return createServer({ name: 'both-eras', version: '1.2.3', state, log, runtime, ...definition, extensions })
}
