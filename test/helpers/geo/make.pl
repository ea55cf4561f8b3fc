#!/usr/bin/perl
# Writes country.mmdb, country-ipv4.mmdb and asn.mmdb beside this file (Debian: libmaxmind-db-writer-perl). Documentation addresses and loopback only.
use strict;
use warnings;
use FindBin;
use MaxMind::DB::Writer::Tree;

my %types = (
    country => 'map', iso_code => 'utf8_string', autonomous_system_number => 'uint32', autonomous_system_organization => 'utf8_string',
);

sub write_file {
    my ($name, $type, $ip_version, %records) = @_;
    my $tree = MaxMind::DB::Writer::Tree->new(
        ip_version => $ip_version, record_size => 24, database_type => $type, languages => ['en'],
        description => { en => 'Test file of pulsegate' }, remove_reserved_networks => 0,
        map_key_type_callback => sub { $types{ $_[0] } },
    );
    $tree->insert_network($_, $records{$_}) for sort keys %records;
    open my $file, '>:raw', "$FindBin::Bin/$name.mmdb" or die $!;
    $tree->write_tree($file);
}

write_file('country', 'Test-Country', 6,
    map { $_->[0] => { country => { iso_code => $_->[1] } } }
        ['127.0.0.2/32', 'XX'], ['127.0.0.1/32', 'YY'], ['203.0.113.0/24', 'DE'], ['2001:db8::/32', 'JP'], ['198.51.100.0/24', 'JP']);
write_file('country-ipv4', 'Test-Country', 4, '203.0.113.0/24' => { country => { iso_code => 'DE' } });
write_file('asn', 'Test-ASN', 6,
    map { $_->[0] => { autonomous_system_number => $_->[1], autonomous_system_organization => $_->[2] } }
        ['127.0.0.3/32', 64500, 'Test Network'], ['203.0.113.0/25', 64501, 'Example'], ['2001:db8:1::/48', 4294967295, 'Last']);
