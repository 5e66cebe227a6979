import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Blocks to which nothing is sent: every block of the two special-purpose address registries that is not globally
 * reachable, what carries an IPv4 address inside an IPv6 one, and multicast. Sources: IANA IPv4 and IPv6 Special-Purpose
 * Address Registries (RFC 6890 and later), IPv4 and IPv6 multicast (RFC 5771, RFC 4291).
 */
const CLOSED: readonly (readonly [network: string, prefix: number, why: string])[] = [
  ['0.0.0.0', 8, 'this network, RFC 791'],
  ['10.0.0.0', 8, 'private use, RFC 1918'],
  ['100.64.0.0', 10, 'shared by carrier-grade NAT, RFC 6598'],
  ['127.0.0.0', 8, 'loopback, RFC 1122'],
  ['169.254.0.0', 16, 'link-local, RFC 3927; metadata services of clouds'],
  ['172.16.0.0', 12, 'private use, RFC 1918'],
  ['192.0.0.0', 24, 'IETF protocol assignments, RFC 6890'],
  ['192.0.2.0', 24, 'documentation, RFC 5737'],
  ['192.31.196.0', 24, 'AS112, RFC 7535'],
  ['192.52.193.0', 24, 'AMT, RFC 7450'],
  ['192.88.99.0', 24, '6to4 relay, RFC 7526'],
  ['192.168.0.0', 16, 'private use, RFC 1918'],
  ['192.175.48.0', 24, 'AS112, RFC 7534'],
  ['198.18.0.0', 15, 'benchmarking, RFC 2544'],
  ['198.51.100.0', 24, 'documentation, RFC 5737'],
  ['203.0.113.0', 24, 'documentation, RFC 5737'],
  ['224.0.0.0', 4, 'multicast, RFC 5771'],
  ['240.0.0.0', 4, 'reserved, RFC 1112; limited broadcast, RFC 8190'],
  ['::', 96, 'unspecified, loopback and IPv4-compatible, RFC 4291'],
  ['::ffff:0:0', 96, 'IPv4-mapped, RFC 4291'],
  ['::ffff:0:0:0', 96, 'IPv4-translated, RFC 2765'],
  ['64:ff9b::', 96, 'NAT64, RFC 6052'],
  ['64:ff9b:1::', 48, 'local NAT64, RFC 8215'],
  ['100::', 64, 'discard-only, RFC 6666'],
  ['100:0:0:1::', 64, 'dummy prefix, RFC 9780'],
  ['2001::', 23, 'IETF protocol assignments with Teredo, RFC 2928, RFC 4380'],
  ['2001:db8::', 32, 'documentation, RFC 3849'],
  ['2002::', 16, '6to4, RFC 3056'],
  ['2620:4f:8000::', 48, 'AS112, RFC 7534'],
  ['3fff::', 20, 'documentation, RFC 9637'],
  ['5f00::', 16, 'segment routing, RFC 9602'],
  ['fc00::', 7, 'unique local, RFC 4193'],
  ['fe80::', 10, 'link-local, RFC 4291'],
  ['fec0::', 10, 'site-local, RFC 3879'],
  ['ff00::', 8, 'multicast, RFC 4291'],
];
/** Only this is handed out as global unicast (RFC 4291, IANA IPv6 global unicast assignments). */
const GLOBAL_UNICAST = ['2000::', 3] as const;

// Apart, because a list of both takes any IPv4 address for one of `::ffff:0:0/96`.
const closed4 = blocks(CLOSED.filter(([network]) => isIPv4(network)));
const closed6 = blocks(CLOSED.filter(([network]) => !isIPv4(network)));
const global6 = blocks([GLOBAL_UNICAST]);
const loopback4 = blocks([['127.0.0.0', 8]]);

function blocks(list: readonly (readonly [network: string, prefix: number, why?: string])[]): BlockList {
  const found = new BlockList();
  for (const [network, prefix] of list) found.addSubnet(network, prefix, isIPv4(network) ? 'ipv4' : 'ipv6');
  return found;
}

/** Whether an address is one of the public Internet. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closed4.check(address, 'ipv4');
  // A zone names an interface of this machine.
  if (!isIPv6(address) || address.includes('%')) return false;
  return global6.check(address, 'ipv6') && !closed6.check(address, 'ipv6');
}

export const isLoopbackAddress = (address: string): boolean =>
  isIPv4(address) ? loopback4.check(address, 'ipv4') : address === '::1';
