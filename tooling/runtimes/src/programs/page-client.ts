import { connectHttp } from '@x/transport-http/client'
import { runChecks, type Outcomes } from '../checks.ts'

// A page in a browser: the test calls this function.
Object.assign(globalThis, {
  async runChecks(url: string): Promise<Outcomes> {
    await using connection = connectHttp(url)
    return await runChecks(connection)
  },
})
