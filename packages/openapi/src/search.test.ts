import { expect, test } from 'vitest'
import { connect, queries, readSearchedTools, search } from './testing/searched-tools.ts'

const { tools, operations } = readSearchedTools(['github', 'digitalocean', 'slack'])

test('50 of 60 questions of users have a right answer in the first five of 1,983 tools', async () => {
  const client = connect(tools)
  const right: string[] = []
  for (const { query, right: answers } of queries)
    if ((await search(client, query)).some((name) => answers.includes(operations.get(name) ?? ''))) right.push(query)
  expect([tools.length, queries.length]).toEqual([1983, 60])
  expect(right.length).toBeGreaterThanOrEqual(50)
})

test('a host reads a kilobyte instead of two megabytes before its first call', async () => {
  const [searched, whole] = [await connect(tools).listTools(), await connect(tools, ['host']).listTools()]
  expect([searched.length, whole.length]).toEqual([3, 1983])
  expect(JSON.stringify(searched).length).toBeLessThan(2000)
  expect(JSON.stringify(whole).length).toBeGreaterThan(2_000_000)
})
