import { join } from 'node:path'
import { validate as findDockerfileProblems } from 'dockerfile-utils'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { findComposeProblems, requireKubernetesObject, runChecker, textOf } from './deploy-checkers.ts'

/** The milliseconds for which the server announces a stop and lets calls leave, and the reserve after that. */
const stopMs = 3_000 + 10_000 + 5_000

// The names of the instances are those of a container network, which this machine does not resolve.
const onThisMachine = (text: string): string =>
  text.replaceAll(/\b(one|two):3000/g, '127.0.0.1:3000').replaceAll('/var/log/nginx', '.')

describe('examples/deploy', () => {
  test('the Dockerfile has no problem, runs as a user without rights, and Node is process 1', () => {
    expect(findDockerfileProblems(textOf('Dockerfile'))).toEqual([])
    expect(textOf('Dockerfile')).toMatch(/^USER node$/m)
    expect(textOf('Dockerfile')).toMatch(/^CMD \["node", "server\.mjs"\]$/m)
  })

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

  test('haproxy.cfg is valid', async () => {
    await runChecker('haproxy.cfg', onThisMachine, (path) => ['haproxy', '-c', '-f', path])
  })

  test('nginx.conf is valid', async () => {
    const change = (text: string): string => `pid nginx.pid; error_log stderr;\n${onThisMachine(text)}`
    await runChecker('nginx.conf', change, (path) => [
      'nginx',
      '-t',
      '-p',
      join(path, '..'),
      '-c',
      path,
      '-e',
      'stderr',
    ])
  })

  test('mcp.service is valid, and lets the server end its calls', async () => {
    await runChecker(
      'mcp.service',
      (text) => text,
      (path) => ['systemd-analyze', 'verify', path],
    )
    expect(textOf('mcp.service')).toMatch(new RegExp(`^TimeoutStopSec=${stopMs / 1000}$`, 'm'))
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

test('every file that the README names is there', () => {
  const names = [
    ...textOf('README.md').matchAll(/`([\w-]+\.(?:mjs|yaml|cfg|conf|toml|jsonc|service)|Caddyfile|Dockerfile)`/g),
  ]
  expect(names.length).toBeGreaterThan(15)
  for (const [, name = ''] of names) expect(textOf(name)).not.toBe('')
})
