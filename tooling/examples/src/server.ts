import { createServer } from '@x/server'
import { ajvCompiler } from '@x/server/ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { changelog, note, review } from './prompts-and-resources.ts'
import { copy, divide, echo, greet, query, shutDown } from './tools.ts'

export const server = createServer({
  name: 'guide',
  version: '1.0.0',
  instructions: 'Greet people before anything else.',
  tools: [greet, divide, copy, echo, query, shutDown],
  prompts: [review],
  resources: [changelog],
  resourceTemplates: [note],
  // No handler asks the user, so no keys are needed.
  state: false,
  log: (record) => process.stderr.write(`${JSON.stringify(record)}\n`),
})

// #region update
export function offerOnlyGreeting(): void {
  server.update({ tools: [greet] })
}
// #endregion

export const strict = createServer({
  name: 'guide',
  version: '1.0.0',
  tools: [echo],
  compileSchema: ajvCompiler(new Ajv2020({ strict: false })),
})
