import { randomBytes } from 'node:crypto'
import type { Runtime } from '@x/core'
import { createServer, type McpServer, sealedState, type ServerDefinition } from '@x/server'
import { legacy } from '../server/legacy.ts'
import type { LegacyOptions } from '../server/options.ts'

/** Creates a server of both eras. */
export function createLegacyServer(
  definition: Omit<ServerDefinition, 'name' | 'version'>,
  options: LegacyOptions = {},
  runtime: Partial<Runtime> = {},
): McpServer {
  const state = sealedState({ keys: [randomBytes(32)] })
  const extensions = [legacy({ onWarning: () => {}, ...options })]
  return createServer({ name: 'both-eras', version: '1.2.3', state, runtime, ...definition, extensions })
}
