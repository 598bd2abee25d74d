import { generateKeyPairSync, sign } from 'node:crypto'

/** A private key and its certificate, as PEM texts. */
export interface SelfSigned {
  readonly key: string
  readonly cert: string
  /** The certificate as DER. */
  readonly der: Buffer
}

const [integer, bits, sequence, set] = [0x02, 0x03, 0x30, 0x31]
const version3 = Buffer.from('a003020102', 'hex')
/** OIDs with their tags and lengths: ecdsa-with-SHA256 and commonName. */
const [ecdsa, commonName] = [Buffer.from('06082a8648ce3d040302', 'hex'), Buffer.from('0603550403', 'hex')]

/** Creates a key and a self-signed certificate (RFC 5280, section 4.1), valid from 2020 to 2049. */
export function selfSigned(name: string): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = der(sequence, der(set, der(sequence, commonName, der(0x0c, Buffer.from(name)))))
  const algorithm = der(sequence, ecdsa)
  const validity = der(sequence, ...['200101000000Z', '491231235959Z'].map((time) => der(0x17, Buffer.from(time))))
  const publicInfo = publicKey.export({ type: 'spki', format: 'der' })
  const serial = der(integer, Buffer.from([1]))
  const contents = der(sequence, version3, serial, algorithm, subject, validity, subject, publicInfo)
  const signature = der(bits, Buffer.from([0]), sign('sha256', contents, privateKey))
  const certificate = der(sequence, contents, algorithm, signature)
  const base64 = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n')
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    der: certificate,
  }
}

/** Encodes a value of ASN.1 with its tag and length. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  const size = value.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), value])
}
