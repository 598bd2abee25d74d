import { expect, test } from 'vitest'
import { drawFrames } from './frames.ts'
import { homePage } from './home-page.ts'
import { drawHostTable } from './host-table.ts'
import { drawServerBars } from './server-bars.ts'

const parts = { links: '<nav/>', frames: '<ol/>', serverBars: '<table id="bars"/>', hostTable: '<table id="hosts"/>' }
const readme = `# x: a title

Write servers. Save this as \`server.mjs\`:

<!-- file: server.mjs -->
\`\`\`js
serve()
\`\`\`

Start it.

\`\`\`mermaid
sequenceDiagram
\`\`\`

## In your host

Add it.

## Why not the official SDK?

Because.
`

test('the home has the program and the frames first, the tables at the end of their sections, and no diagram', () => {
  const page = homePage(readme, parts)
  const order = ['# x: a title', 'Write servers.', '<nav/>', 'serve()', '<ol/>', 'Start it.', 'Add it.', 'id="hosts"']
  const places = [...order, 'Because.', 'id="bars"'].map((text) => page.indexOf(text))
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(places[0]).toBeGreaterThan(0)
  expect(page).not.toContain('mermaid')
})

test.each([
  ['without a program from a file', readme.replace('<!-- file', '<!-- '), 'must begin with a title'],
  ['with another section', readme.replace('In your host', 'Hosts'), 'no section "In your host"'],
])('a README %s fails the build', (_, text, message) => {
  expect(() => homePage(text, parts)).toThrow(message)
})

test('a line of a run is text, and not HTML', () => {
  expect(drawFrames({ ask: ['Serving <b>'], kill: [], answer: ['Order 1'] })).toContain(
    '<span class="process">Serving &lt;b></span>',
  )
})

test('a server has a bar for what was measured, and its number', () => {
  const servers = [{ name: 'x', call: { median: 2 }, asks: null }]
  const table = drawServerBars(servers, 'CPU')
  expect(table).toMatch(
    /<td class="call"><span class="bar" style="width: [^"]+"><\/span> 2<\/td><td class="asks">not measured<\/td>/,
  )
})

test('a host has what works somewhere, and a feature that nobody tried is a fault of the file', () => {
  const works = { 'plain tool': { outcome: 'works' }, progress: { outcome: 'host cannot' } }
  const rest = { question: { outcome: 'fails' }, 'restart while a form is open': { outcome: 'not run' } }
  const host = { host: 'H', revision: '2026-07-28', cells: { stdio: works, HTTP: rest } }
  const table = drawHostTable([host], 'Hosts')
  for (const outcome of ['works', 'host cannot', 'fails', 'not run']) expect(table).toContain(`>${outcome}</span>`)
  expect(() => drawHostTable([{ ...host, cells: { stdio: works } }], '')).toThrow('has no "question" of H')
})
