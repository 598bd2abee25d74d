import { readFile, rm, writeFile } from 'node:fs/promises'
import { validate as findDockerfileProblems } from 'dockerfile-utils'
import { expect } from 'vitest'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { runCommand, startProgram } from '../src/installed/run-command.ts'
import { checkReadyAndStop, readPrintedUrl, startServer, stopServer } from './deployed-fleet.ts'
import { readShownOutput, type TutorialFolder, tutorialFolder } from './tutorial-folder.ts'

/** Follows the steps of the tutorial in order, and compares each output with the one on its page. */
export async function followTutorial(place: string): Promise<void> {
  const tutorial = tutorialFolder(place)
  await tutorial.save(1)
  await tutorial.run('install.sh')
  await useThePage(place, tutorial)
  await serveOverHttp(place, tutorial)
  await killAnInstance(place, tutorial)
  await deploy(place, tutorial)
}

/** The page calls the server as a host at the other address of the command does. Step 3 orders twice, and step 4 once. */
async function useThePage(place: string, tutorial: TutorialFolder): Promise<void> {
  await tutorial.save(2)
  expect(await readShownOutput('step-2/dev.sh')).toBe('npx mcpx dev "node server.mjs"\n')
  const command = ['npx', 'mcpx', 'dev', '--port', '0', '--no-open', 'node server.mjs']
  await using dev = await startProgram(command, place, {})
  await using connection = connectHttp(new URL('/mcp', dev.url).href)
  const elicit = () => ({ action: 'accept', content: { guests: 8 } }) as const
  const client = createClient(connection, { name: 'host', version: '1.0.0', elicit })
  const call = async (tool: string, cake: string): Promise<unknown> =>
    (await client.callTool(tool, { cake })).content.map((block) => 'text' in block && block.text).join()
  expect(await call('price', 'apple')).toBe('The apple cake costs 18 euros')
  // The guide on stdio shows the same call without a page.
  expect(await tutorial.run('call.sh')).toBe(await readShownOutput('step-2/call.txt'))
  expect(`${await call('price', 'plum')}\n`).toBe(await readShownOutput('step-2/invalid.txt'))
  for (const step of [3, 4]) {
    await tutorial.save(step)
    await dev.see('ready after', step - 1)
    await rm(`${place}/orders.txt`, { force: true })
    expect(await call('order', 'cheese')).toBe('Ordered: one cheese cake for 8')
    expect(await tutorial.run('count.sh')).toBe(await readShownOutput(`step-${step}/count.txt`))
  }
}

/** In steps 5 and 6, `mcpx` and a host of an older revision call the server at its URL. */
async function serveOverHttp(place: string, tutorial: TutorialFolder): Promise<void> {
  await tutorial.save(5)
  await tutorial.save(6)
  const server = startServer(`${place}/server.mjs`, { PORT: '0' })
  const url = await readPrintedUrl(server)
  const shownUrl = 'http://127.0.0.1:3000/mcp'
  expect(await readFile(`${place}/mcp.json`, 'utf8')).toContain(`"${shownUrl}"`)
  expect(await tutorial.run('call.sh', { [shownUrl]: url })).toBe(await readShownOutput('step-5/call.txt'))
  const initialized: unknown = JSON.parse(await tutorial.run('initialize.sh', { [shownUrl]: url }))
  expect(initialized).toEqual(JSON.parse(await readShownOutput('step-6/initialize.txt')))
  expect(await stopServer(server)).toEqual([0, null])
}

/** In step 7 an instance of a fleet is killed while the user answers. Step 8 runs the tests of the project. */
async function killAnInstance(place: string, tutorial: TutorialFolder): Promise<void> {
  await tutorial.save(7)
  expect(await tutorial.run('key.sh')).toMatch(/^state\.keys has the new key /)
  expect(await tutorial.run('run.sh')).toBe(await readShownOutput('step-7/run.txt'))
  await tutorial.save(8)
  expect(await tutorial.run('test.sh')).toMatch(/pass 2$/m)
  const bakery = await readFile(`${place}/bakery.mjs`, 'utf8')
  await writeFile(`${place}/bakery.mjs`, bakery.replace("ctx.step('save', () => ", '('))
  await expect(tutorial.run('test.sh')).rejects.toThrow(/fail 2$/m)
  await writeFile(`${place}/bakery.mjs`, bakery)
}

/** Step 9 runs the commands of the Dockerfile without a container. */
async function deploy(place: string, tutorial: TutorialFolder): Promise<void> {
  await tutorial.save(9)
  expect(findDockerfileProblems(await readFile(`${place}/Dockerfile`, 'utf8'))).toEqual([])
  const key = (await readFile(`${place}/state.keys`, 'utf8')).trim()
  await rm(`${place}/state.keys`)
  await runCommand('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline'], place)
  const environment = { PORT: '0', HOST: '0.0.0.0', ALLOWED_HOSTS: 'localhost', STATE_KEYS: key }
  const server = startServer(`${place}/server.mjs`, environment)
  const { port } = new URL(await readPrintedUrl(server))
  await checkReadyAndStop(server, `http://localhost:${port}`)
}
