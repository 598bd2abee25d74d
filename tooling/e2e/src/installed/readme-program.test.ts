import { expect, test } from 'vitest'
import { importedPackages, readProgram } from './readme-program.ts'

const readme = `# A package

\`\`\`sh
npm install a
\`\`\`

\`\`\`ts
import { z } from 'zod'
const name: string = 'first'
console.log(name, z)
\`\`\`

\`\`\`ts
console.log('second')
\`\`\`
`

test('the first program of a README is returned as JavaScript', async () => {
  const program = await readProgram(readme, 'README.md')
  expect(program).toContain('const name = "first"')
  expect(program).not.toContain('second')
})

test('the error for a README without a program names the README', async () => {
  await expect(readProgram('# Nothing', 'packages/x/README.md')).rejects.toThrow(
    'packages/x/README.md shows no program',
  )
})

test('imported packages are listed once, without subpaths and modules of Node', () => {
  const program = `import a from '@x/server'
    import { b } from "@x/server/ajv"
    import 'undici'
    import { readFile } from 'node:fs'
    import { c } from './c.js'
    import { z } from 'zod/v4'`
  expect(importedPackages(program)).toEqual(['@x/server', 'undici', 'zod'])
})
