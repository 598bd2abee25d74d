import { authErrorOf, type FetchFunction, oauth } from '@x/auth/client'
import { fileStore } from '@x/auth/node'
import { connectHttp } from '@x/transport-http/client'
import { callTool } from '../../src/testing/call.ts'
import { createMemoryBrowser } from '../../src/testing/scripted-as.ts'

// A host: it says that it is ready, waits for a line, makes its calls at once, and prints their results.
const [url = '', folder = '', calls = '1', mode = ''] = process.argv.slice(2)

/** Dies when new tokens have come and before they are stored. */
const dyingFetch: FetchFunction = async (address, request) => {
  const response = await fetch(address, request)
  if (String(request.body).includes('grant_type=refresh_token')) process.kill(process.pid, 'SIGKILL')
  return response
}

const auth = oauth({
  client: { name: 'caller' },
  redirect: createMemoryBrowser(),
  store: fileStore('caller', { folder }),
  ...(mode === 'die' ? { fetch: dyingFetch } : {}),
})
const connection = connectHttp(url, { auth })
process.stdout.write('ready\n')
process.stdin.once('data', async () => {
  const running = Array.from({ length: Number(calls) }, () =>
    callTool(connection).then(
      (response) => ('result' in response ? 'served' : 'error'),
      (error: unknown) => authErrorOf(error)?.code ?? String(error),
    ),
  )
  process.stdout.write(`${JSON.stringify(await Promise.all(running))}\n`)
  await connection.close()
  process.stdin.pause()
})
