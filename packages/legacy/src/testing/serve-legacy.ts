import { randomBytes } from 'node:crypto'
import { createLog, type Log, type LogRecord, type Runtime } from '@x/core'
import { createServer, type McpServer, sealedState, type ServerDefinition } from '@x/server'
import { legacy } from '../server/legacy.ts'
import type { LegacyOptions } from '../server/session/options.ts'

const writeError = createLog(undefined, '@x/legacy')

/** Adds the extension's warnings to a list. An error is written to the console, which fails the test. */
export function collectWarnings(warnings: LogRecord[]): Log {
  return (record) => {
    if (record.level === 'error') writeError(record)
    else if (record.method === 'legacy') warnings.push(record)
  }
}

/** For 2026-07-28 and older revisions. */
export function createLegacyServer(
  definition: Omit<ServerDefinition, 'name' | 'version'>,
  options: LegacyOptions = {},
  runtime: Partial<Runtime> = {},
): McpServer {
  const state = sealedState({ keys: [randomBytes(32)] })
  const extensions = [legacy(options)]
  const log = collectWarnings([])
  return createServer({ name: 'all-revisions', version: '1.2.3', state, log, runtime, ...definition, extensions })
}
