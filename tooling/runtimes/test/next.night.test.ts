import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { allPassed, checkServer } from './expected.ts'
import { checkOlderClient } from './older-client.ts'
import { folder, runProgram, startProgram } from './start-program.ts'

test('a route handler of Next.js passes all checks', async () => {
  const next = { program: process.execPath, cwd: `${folder}next` }
  const cli = createRequire(import.meta.url).resolve('next/dist/bin/next')
  await rm(`${next.cwd}/.next`, { recursive: true, force: true })
  await runProgram({ ...next, args: [cli, 'build'] })
  const start = { ...next, args: [cli, 'start', '--port', '0', '--hostname', '127.0.0.1'] }
  await using server = await startProgram(start, /(http:\/\/127\.0\.0\.1:\d+)/)
  const url = `${server.announced}/mcp`
  expect(await checkServer(url)).toEqual(allPassed)
  expect(await checkOlderClient(url, { keepsStreams: true })).toEqual({})
})
