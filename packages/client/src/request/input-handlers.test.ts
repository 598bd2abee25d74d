import { type ClientCapabilities, metaKeys } from '@x/schema'
import { expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import type { InputHandlers } from './input-handlers.ts'
import { hostInfo, createTextResult, createScriptedExchange } from '../testing/scripted-exchange.ts'

const elicit = (): { action: 'cancel' } => ({ action: 'cancel' })
const openUrl = elicit
const roots = (): [] => []
const sample = (): never => {
  throw new Error('no model')
}

test.each<[string, ClientCapabilities | undefined, InputHandlers, ClientCapabilities]>([
  ['nothing', undefined, {}, {}],
  ['forms', undefined, { elicit }, { elicitation: { form: {} } }],
  ['pages', undefined, { openUrl }, { elicitation: { url: {} } }],
  ['both', undefined, { elicit, openUrl }, { elicitation: { form: {}, url: {} } }],
  [
    'forms that were declared without a name, beside pages',
    { elicitation: {} },
    { openUrl },
    { elicitation: { form: {}, url: {} } },
  ],
  [
    'pages that were declared by hand, beside forms',
    { elicitation: { url: {} } },
    { elicit },
    { elicitation: { form: {}, url: {} } },
  ],
  ['a model', undefined, { sample }, { sampling: {} }],
  ['a model with what was said of it', { sampling: { tools: {} } }, { sample }, { sampling: { tools: {} } }],
  ['roots', undefined, { roots }, { roots: {} }],
  ['what was said beside it', { extensions: { 'a/b': {} } }, { roots }, { extensions: { 'a/b': {} }, roots: {} }],
  ['what was said without handlers', { elicitation: {} }, {}, { elicitation: {} }],
])('A client declares %s', async (_title, capabilities, handlers, declared) => {
  const exchange = createScriptedExchange(() => createTextResult('hi'))
  await createClient(exchange, { ...hostInfo, ...handlers, capabilities }).callTool('greet')
  expect(exchange.received[0]?.meta[metaKeys.clientCapabilities]).toEqual(declared)
})
