import { readFile, writeFile } from 'node:fs/promises'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect } from 'vitest'
import { readProgram } from '../src/installed/readme-program.ts'
import { runCommand, startProgram } from '../src/installed/run-command.ts'
import { checkReadyAndStop, copyDeployFolder, readPrintedUrl, startServer } from './deployed-fleet.ts'

const readme = new URL('../../../README.md', import.meta.url)
const npmOptions = ['--no-audit', '--no-fund', '--prefer-offline']

/**
 * Follows the README of the repository in an empty folder: installs the packages, opens the program in `mcpx dev`, and
 * changes it while its question is open.
 */
export async function followReadme(folder: string): Promise<void> {
  const text = await readFile(readme, 'utf8')
  const install = /^npm install (@x\/.*)$/m.exec(text)?.[1] ?? ''
  await runCommand('npm', ['install', ...npmOptions, ...install.split(' ')], folder)
  const program = await readProgram(text, 'README.md')
  const path = `${folder}/server.mjs`
  await writeFile(path, program)
  const command = ['mcpx', 'dev', '--port', '0', '--no-open', 'node server.mjs']
  expect(text).toContain('npx mcpx dev "node server.mjs"')
  await using dev = await startProgram(['npx', ...command], folder, {})
  await using connection = connectHttp(new URL('/mcp', dev.url).href)
  const client = createClient(connection, {
    name: 'host',
    version: '1.0.0',
    elicit: async ({ message }) => {
      expect(message).toBe('What would you like to eat?')
      await writeFile(path, program.replace('Order ${', 'Dinner ${'))
      await dev.see('ready after', 2)
      return { action: 'accept', content: { dish: 'ramen' } }
    },
  })
  const { content } = await client.callTool('order_dinner', { guests: 2 })
  expect(content[0]).toMatchObject({ text: expect.stringMatching(/^Dinner \d+: 2 x ramen$/) })
}

/** Installs a copy of `examples/deploy` as its Dockerfile does, starts the server, and stops it. */
export async function serveDeployFolder(folder: string): Promise<void> {
  await copyDeployFolder(folder)
  // The manifest of the folder lists the peers of its packages.
  await runCommand('npm', ['install', ...npmOptions, '--ignore-scripts'], folder)
  await runCommand('npm', ['ci', '--omit=dev', ...npmOptions], folder)
  const server = startServer(`${folder}/server.mjs`, {
    PORT: '0',
    STATE_KEYS: '0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(2),
  })
  await checkReadyAndStop(server, await readPrintedUrl(server))
}
