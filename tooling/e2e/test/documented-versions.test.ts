import { compilers } from '@tooling/typescript-versions'
import { legacyRevisions } from '@x/legacy'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8')

/** Reads the versions in the row with the given first text. */
function versionsOf(row: string): string[] {
  const line = read('docs/versions.md')
    .split('\n')
    .find((one) => one.startsWith(`| ${row}`))
  return line?.split('|')[2]?.match(/[\d.-]+/g) ?? []
}

test('the page about versions names the TypeScript versions that compile the declarations', () => {
  expect(versionsOf('TypeScript, for')).toEqual([...compilers.keys()])
})

test('the page about versions names the Node versions of the tests', () => {
  const nodes = [...read('tooling/node-versions/package.json').matchAll(/"node-(\d+)":/g)].map(([, major]) => major)
  expect(nodes.length).toBeGreaterThan(1)
  expect(versionsOf('Node, in tests')).toEqual(nodes)
})

test.each(readdirSync(`${root}packages`))(
  'the package %s has the documented Node version, and the page of parts lists it',
  (name) => {
    const { node } = JSON.parse(read(`packages/${name}/package.json`)).engines
    expect(versionsOf('Node, as').map((version) => `>=${version}`)).toEqual([node])
    expect(read('docs/parts.md')).toMatch(new RegExp(`@x/${name}[\`/]`))
  },
)

test('the page about versions names the older revisions', () => {
  expect(versionsOf('the protocol, older revisions')).toEqual([...legacyRevisions])
})
