import { randomBytes } from 'node:crypto'
import { createServer, type McpServer, sealedState } from '@x/server'
import type { ServerExtension } from '@x/exchange'
import { askingPrompts, askingTools, sessionTools } from './asking-tools.ts'
import { contentTools } from './content-tools.ts'
import { prompts } from './prompts.ts'
import { changingTools } from './changing-tools.ts'
import { protocolTools } from './protocol-tools.ts'
import { resources, resourceTemplates } from './resources.ts'
import { schemaTools } from './schema-tools.ts'
import { taskTools } from './task-tools.ts'

/**
 * Creates the server that the official suite expects. The suite defines the names of its tools, resources and prompts.
 */
export function createFixture(extensions: readonly ServerExtension[]): McpServer {
  const server: McpServer = createServer({
    name: 'conformance-fixture',
    version: '1.0.0',
    // The suite calls the first tool without arguments, and reads the first resource.
    tools: [
      ...contentTools,
      ...protocolTools,
      ...schemaTools,
      ...askingTools,
      ...sessionTools,
      ...changingTools((kind) => server.notifyListChanged(kind)),
      ...taskTools,
    ],
    resources,
    resourceTemplates,
    prompts: [...prompts, ...askingPrompts],
    state: sealedState({ keys: [randomBytes(32)] }),
    extensions,
  })
  return server
}
