import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { drawServers, figureFiles, withTable } from './asks.ts'

const figure = z.object({ median: z.number(), from: z.number(), to: z.number() }).nullable()
const figures = z.array(z.object({ name: z.string(), revision: z.string(), call: figure, asks: figure }))

test('the chart and the table of the page on performance show the recorded figures', async () => {
  const [recorded = '', chart, page = ''] = await Promise.all(
    Object.values(figureFiles).map((file) => readFile(file, 'utf8')),
  )
  const servers = figures.parse(JSON.parse(recorded))
  expect(chart).toBe(drawServers(servers))
  expect(page).toBe(withTable(page, servers))
  expect(page).toContain(`| ${servers[1]?.name} | ${servers[1]?.revision} | ${servers[1]?.call?.median} (`)
})
