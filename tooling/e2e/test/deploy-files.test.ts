import { join } from 'node:path'
import { describeNeeding } from '@tooling/vitest/needs'
import { validate as findDockerfileProblems } from 'dockerfile-utils'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { findComposeProblems, requireKubernetesObject, runChecker, textOf } from './deploy-checkers.ts'

/** The milliseconds for which the server announces a stop and lets calls leave, and the reserve after that. */
const stopMs = 3_000 + 10_000 + 5_000

describe('examples/deploy', () => {
  test('the Dockerfile has no problem, runs as a user without rights, and Node is process 1', () => {
    expect(findDockerfileProblems(textOf('Dockerfile'))).toEqual([])
    expect(textOf('Dockerfile')).toMatch(/^USER node$/m)
    expect(textOf('Dockerfile')).toMatch(/^CMD \["node", "server\.mjs"\]$/m)
  })

  test.each(['ado-work-items', 'load-shedding'])(
    'the Dockerfile of the app %s has no problem, runs as a user without rights, and Node is process 1',
    (app) => {
      const text = textOf(`../../apps/${app}/Dockerfile`)
      expect(findDockerfileProblems(text)).toEqual([])
      expect(text).toMatch(/^USER node$/m)
      expect(text).toMatch(/^CMD \["node", /m)
    },
  )

  test('compose.yaml follows the Compose specification, and lets an instance end its calls', () => {
    const compose: unknown = parse(textOf('compose.yaml'), { merge: true })
    expect(findComposeProblems(compose)).toEqual([])
    expect(compose).toMatchObject({ services: { one: { stop_grace_period: `${stopMs / 1000}s` } } })
  })

  test('kubernetes.yaml follows the schemas of Kubernetes, and lets an instance end its calls', () => {
    const documents = parseAllDocuments(textOf('kubernetes.yaml')).map((document) => document.toJS() as object)
    for (const document of documents) requireKubernetesObject(document)
    expect(documents.length).toBe(3)
    expect(documents[0]).toMatchObject({
      spec: { template: { spec: { terminationGracePeriodSeconds: stopMs / 1000 } } },
    })
  })

  test('fly.toml and render.yaml let an instance end its calls, and ask it whether it is ready', () => {
    expect(parseToml(textOf('fly.toml'))).toMatchObject({
      kill_timeout: `${stopMs / 1000}s`,
      http_service: { internal_port: 3000, checks: [{ path: '/readyz' }] },
    })
    expect(parse(textOf('render.yaml'))).toMatchObject({
      services: [{ maxShutdownDelaySeconds: stopMs / 1000, healthCheckPath: '/readyz' }],
    })
  })

  test('cloud-run.yaml gives an instance a processor between requests, for tasks', () => {
    expect(parse(textOf('cloud-run.yaml'))).toMatchObject({
      spec: { template: { metadata: { annotations: { 'run.googleapis.com/cpu-throttling': 'false' } } } },
    })
  })
})

// nginx resolves the names of the instances at its start, and they are those of a container network.
const nginxOfThisMachine = (text: string): string =>
  `pid nginx.pid; error_log stderr;\n${text.replaceAll(/\b(one|two):3000/g, '127.0.0.1:3000')}`

describeNeeding('haproxy', 'haproxy.cfg', (program) => {
  test('is valid', () => runChecker('haproxy.cfg', (path) => [program, '-c', '-f', path]))
})

describeNeeding('caddy', 'the Caddyfile', (program) => {
  const validate = (path: string) => [program, 'validate', '--adapter', 'caddyfile', '--config', path]

  test('is valid', () => runChecker('Caddyfile', validate))

  test('is checked, so that an unknown word is rejected', async () => {
    const change = (text: string): string => text.replace('lb_try_duration', 'lb_try_time')
    await expect(runChecker('Caddyfile', validate, change)).rejects.toThrow('lb_try_time')
  })
})

describeNeeding('nginx', 'nginx.conf', (program) => {
  const check = (path: string) => [program, '-t', '-p', join(path, '..'), '-c', path, '-e', 'stderr']

  test('is valid', () => runChecker('nginx.conf', check, nginxOfThisMachine))
})

describeNeeding('systemd', 'mcp.service', (program) => {
  test('is valid, and lets the server end its calls', async () => {
    await runChecker('mcp.service', (path) => [program, 'verify', path])
    expect(textOf('mcp.service')).toMatch(new RegExp(`^TimeoutStopSec=${stopMs / 1000}$`, 'm'))
  })
})

test('every file that the README names is there', () => {
  const names = [
    ...textOf('README.md').matchAll(/`([\w/-]+\.(?:mjs|yaml|cfg|conf|toml|jsonc|service)|Caddyfile|Dockerfile)`/g),
  ]
  expect(names.length).toBeGreaterThan(15)
  for (const [, name = ''] of names) expect(textOf(name)).not.toBe('')
})
