<?php
/** Sets the newsroom plugin's site address and secret. $input: siteUrl, secret. */

update_option( 'newsroom_site_url', $input['siteUrl'] );
update_option( 'newsroom_secret', $input['secret'] );
flush_rewrite_rules( false );
